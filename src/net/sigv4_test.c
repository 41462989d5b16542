#include "net/sigv4.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/span.h"

/* The first three are AWS' own examples; the others were computed by another program (Python).
 * tests/clients/run_clouds.py asks botocore. */
static const struct {
    const char *behaviour, *method, *target, *body, *token, *signature;
} cases[] = {
    {"nothing but a host", "GET", "/", "", NULL,
     "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"},
    {"another method", "POST", "/", "", NULL,
     "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"},
    {"parameters are sorted", "GET", "/?Param2=value2&Param1=value1", "", NULL,
     "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500"},
    {"a body", "POST", "/x", "{\"a\":1}", NULL,
     "2ded708e19b5b158f3475ce0aeb30444a51c3da41e62c28d06e10d76f175c703"},
    {"an id in the path, escaped once more", "POST", "/model/us.anthropic.claude-x-v1%3A0/invoke",
     "{}", NULL, "7e7cd2a723ee5ef96f11e99941d7ec2976b8445eab9bb2e0a2e62ab6b4c756d6"},
    {"and one that is not escaped", "POST", "/model/us.anthropic.claude-x-v1:0/invoke", "{}", NULL,
     "679e180c3951941daf67506613079dd472a55057692043d2104f31477444e71d"},
    {"keys that pass", "POST", "/x", "{}",
     "TOKEN/+=", "18e3d2181cf42af4bbfd9b91f76b912f1b4115e72961ec17bf1ff6c383cb1896"},
    {"one name twice, one without a value", "GET", "/?b=2&a&b=1", "", NULL,
     "f7ab7ca98bbfc66eee7e618190d481ce1f3a60688db86ab9112cf8dc53f4763d"},
};

static void requests_are_signed(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        struct wr_aws_keys keys = {"AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",
                                   cases[i].token, "us-east-1"};
        struct wr_aws_request request = {wr_span_of(cases[i].method),
                                         WR_LIT("example.amazonaws.com"),
                                         wr_span_of(cases[i].target),
                                         wr_span_of(cases[i].body),
                                         "service",
                                         1440938160000};
        char date[WR_AWS_DATE_BYTES];
        struct wr_buf out, expected;
        wr_buf_init(&out, 4096);
        wr_buf_init(&expected, 4096);
        assert_true(wr_aws_sign(&keys, &request, date, &out));
        assert_string_equal(date, "20150830T123600Z");
        wr_buf_printf(&expected,
                      "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/"
                      "aws4_request, SignedHeaders=host;x-amz-date%s, Signature=%s",
                      cases[i].token ? ";x-amz-security-token" : "", cases[i].signature);
        if (!wr_span_eq(wr_buf_view(&out), wr_buf_view(&expected)))
            fail_msg("%s: %.*s", cases[i].behaviour, (int)out.len, out.bytes);
        wr_buf_release(&out);
        wr_buf_release(&expected);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(requests_are_signed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
