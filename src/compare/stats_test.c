/* The intervals keep their promise: what they claim to hold, they hold in 93 to 97 of 100 cases.
 *
 * Each row draws two arms thousands of times from distributions like those of the field (money and
 * tokens are skewed, counts cluster in few sessions, a holdout has a tenth of the units) and counts
 * how often the interval holds the true value, which is known here.
 */
#include "compare/stats.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

#include "base/span.h"

enum { DRAWS = 4000, UNITS_MAX = 400 };

/* ---- chance ---- */

static double uniform(struct wr_chance *chance) /* above 0, up to 1 */
{
    return ((double)(wr_chance_next(chance) >> 11) + 1) / 9007199254740992.0;
}

static double normal(struct wr_chance *chance)
{
    return sqrt(-2 * log(uniform(chance))) * cos(6.283185307179586 * uniform(chance));
}

static double lognormal(struct wr_chance *chance, double mean, double sigma)
{
    return mean * exp(sigma * normal(chance) - sigma * sigma / 2);
}

static double poisson(struct wr_chance *chance, double mean)
{
    double left = exp(-mean), product = uniform(chance);
    int count = 0;

    for (; product > left; count++)
        product *= uniform(chance);
    return count;
}

/* ---- what is drawn ---- */

enum kind { NORMAL, SKEWED, COUNTS, CLUSTERED };

static const struct scene {
    const char *what;
    enum kind kind;
    unsigned first_count, second_count;
    double first_mean, second_mean, spread;
    struct wr_least least;
} scenes[] = {
    {"time of five runs each", NORMAL, 5, 5, 100, 90, 15, {3, 0}},
    {"money of five runs each, skewed", SKEWED, 5, 5, 1.0, 0.7, 0.4, {3, 0}},
    {"money of ten runs each, skewed", SKEWED, 10, 10, 1.0, 0.7, 0.5, {3, 0}},
    {"money of sessions, very skewed, a holdout of 10 %", SKEWED, 40, 360, 1.0, 0.8, 0.8, {20, 0}},
    {"turns a task, sessions of several tasks", CLUSTERED, 30, 270, 8, 8.4, 0.5, {20, 0}},
    {"corrections, one in five sessions", COUNTS, 100, 300, 0.2, 0.2, 0, {20, 10}},
    {"failed edits that come in bursts", CLUSTERED, 60, 200, 0.6, 0.8, 0.8, {20, 10}},
};

static void draw_unit(struct wr_chance *chance, const struct scene *s, double mean,
                      struct wr_arm *arm)
{
    double tasks;

    switch (s->kind) {
    case NORMAL:
        wr_arm_add(arm, mean + s->spread * normal(chance), 1);
        break;
    case SKEWED:
        wr_arm_add(arm, lognormal(chance, mean, s->spread), 1);
        break;
    case COUNTS:
        wr_arm_add(arm, poisson(chance, mean), 1);
        break;
    case CLUSTERED: /* a session has its own rate, and one to several tasks */
        tasks = 1 + poisson(chance, 2);
        wr_arm_add(arm, poisson(chance, tasks * lognormal(chance, mean, s->spread)), tasks);
        break;
    }
}

static double share_covered(const struct scene *s, bool in_percent)
{
    struct wr_chance chance = {20260101};
    double truth =
        in_percent ? 100 * (s->second_mean / s->first_mean - 1) : s->second_mean - s->first_mean;
    unsigned held = 0, said = 0;

    for (unsigned i = 0; i < DRAWS; i++) {
        struct wr_arm first = {0}, second = {0};
        for (unsigned k = 0; k < s->first_count; k++)
            draw_unit(&chance, s, s->first_mean, &first);
        for (unsigned k = 0; k < s->second_count; k++)
            draw_unit(&chance, s, s->second_mean, &second);
        struct wr_contrast c = wr_contrast_arms(&first, &second, s->least);
        if (c.verdict == WR_VERDICT_TOO_FEW)
            continue;
        double low = in_percent ? c.percent_low : c.low,
               high = in_percent ? c.percent_high : c.high;
        said++;
        held += low <= truth && truth <= high;
    }
    assert_true(said > DRAWS / 2);
    return (double)held / (double)said;
}

static void arms_are_covered(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(scenes); i++)
        for (int in_percent = 0; in_percent < 2; in_percent++) {
            double share = share_covered(&scenes[i], in_percent);
            print_message("%-52s %s %.1f %%\n", scenes[i].what,
                          in_percent ? "percent   " : "difference", 100 * share);
            if (share < 0.93 || share > 0.97)
                fail_msg("%s: %.1f %% of intervals hold the truth", scenes[i].what, 100 * share);
        }
}

static void pairs_are_covered(void **state)
{
    (void)state;
    struct wr_chance chance = {7};
    unsigned held = 0;
    double first[12], second[12];

    for (unsigned i = 0; i < DRAWS; i++) {
        for (size_t k = 0; k < WR_COUNT_OF(first); k++) {
            double task = lognormal(&chance, 1, 0.6); /* tasks differ more than arms do */
            first[k] = task * lognormal(&chance, 1, 0.25);
            second[k] = 0.75 * task * lognormal(&chance, 1, 0.25);
        }
        struct wr_contrast c = wr_contrast_pairs(first, second, WR_COUNT_OF(first), 3);
        held += c.percent_low <= -25 && -25 <= c.percent_high;
    }
    print_message("pairs: %.1f %%\n", 100.0 * held / DRAWS);
    assert_in_range(held, DRAWS * 93 / 100, DRAWS * 97 / 100);
}

static void shares_are_covered(void **state)
{
    static const struct {
        unsigned count;
        double first, second;
    } rows[] = {{12, 0.7, 0.75}, {24, 0.6, 0.8}, {36, 0.9, 0.85}, {60, 0.5, 0.5}};

    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(rows); i++) {
        struct wr_chance chance = {11 + i};
        unsigned held = 0;
        for (unsigned n = 0; n < DRAWS; n++) {
            uint64_t a = 0, b = 0;
            for (unsigned k = 0; k < rows[i].count; k++) {
                a += uniform(&chance) <= rows[i].first;
                b += uniform(&chance) <= rows[i].second;
            }
            struct wr_contrast c = wr_contrast_shares(a, rows[i].count, b, rows[i].count, 3);
            double truth = rows[i].second - rows[i].first;
            held += c.low <= truth && truth <= c.high;
        }
        print_message("shares of %u: %.1f %%\n", rows[i].count, 100.0 * held / DRAWS);
        assert_in_range(held, DRAWS * 93 / 100, DRAWS * 97 / 100);
    }
}

/* With as many units as were said to be needed, a true difference of 5 % is found in 80 % of cases.
 */
static void the_needed_number_is_enough(void **state)
{
    struct wr_chance chance = {3};
    struct wr_arm first = {0}, second = {0};
    unsigned found = 0, draws = 400;

    (void)state;
    for (unsigned i = 0; i < 200; i++) {
        wr_arm_add(&first, lognormal(&chance, 1, 0.3), 1);
        wr_arm_add(&second, lognormal(&chance, 1, 0.3), 1);
    }
    struct wr_contrast c = wr_contrast_arms(&first, &second, (struct wr_least){20, 0});
    assert_true(c.has_needed && c.needed_count > 400 && c.needed_count < 2000);
    uint64_t each = (c.needed_count + 400) / 2;
    for (unsigned n = 0; n < draws; n++) {
        struct wr_arm a = {0}, b = {0};
        for (uint64_t i = 0; i < each; i++) {
            wr_arm_add(&a, lognormal(&chance, 1, 0.3), 1);
            wr_arm_add(&b, lognormal(&chance, 1.05, 0.3), 1);
        }
        found += wr_contrast_arms(&a, &b, (struct wr_least){20, 0}).verdict == WR_VERDICT_MORE;
    }
    print_message("5 %% is found in %.1f %% of cases\n", 100.0 * found / draws);
    assert_in_range(found, draws * 74 / 100, draws * 87 / 100);
}

/* ---- by hand ---- */

static void quantiles_are_those_of_the_tables(void **state)
{
    static const struct {
        double freedom, value;
    } rows[] = {{1, 12.7062}, {2, 4.3027}, {5, 2.5706}, {11, 2.2010}, {30, 2.0423}, {1e6, 1.9600}};

    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(rows); i++)
        assert_true(fabs(wr_t_quantile(0.975, rows[i].freedom) - rows[i].value) < 5e-4);
}

static void shares_are_newcombes(void **state)
{
    /* Newcombe 1998, table II, method 10, row (a): 56/70 less 48/80. */
    struct wr_contrast c = wr_contrast_shares(48, 80, 56, 70, 3);

    (void)state;
    assert_true(fabs(c.low - 0.0524) < 5e-4);
    assert_true(fabs(c.high - 0.3339) < 5e-4);
    assert_int_equal(c.verdict, WR_VERDICT_MORE);
    c = wr_contrast_shares(0, 10, 0, 10, 3);
    assert_true(c.low < -0.2 && c.high > 0.2);
    assert_int_equal(c.verdict, WR_VERDICT_UNKNOWN);
}

static void too_few_have_no_verdict(void **state)
{
    struct wr_arm first = {0}, second = {0};

    (void)state;
    for (int i = 0; i < 4; i++) {
        wr_arm_add(&first, 100 + i, 1);
        wr_arm_add(&second, 20 + i, 1);
    }
    assert_int_equal(wr_contrast_arms(&first, &second, (struct wr_least){5, 0}).verdict,
                     WR_VERDICT_TOO_FEW);
    assert_int_equal(wr_contrast_arms(&first, &second, (struct wr_least){4, 0}).verdict,
                     WR_VERDICT_LESS);
    assert_int_equal(
        wr_contrast_arms(&(struct wr_arm){0}, &second, (struct wr_least){0, 0}).verdict,
        WR_VERDICT_TOO_FEW);
    /* Units enough, but four events in all. */
    first = second = (struct wr_arm){0};
    for (int i = 0; i < 50; i++) {
        wr_arm_add(&first, i == 0, 1);
        wr_arm_add(&second, i < 3, 1);
    }
    assert_int_equal(wr_contrast_arms(&first, &second, (struct wr_least){20, 10}).verdict,
                     WR_VERDICT_TOO_FEW);
}

static void chance_can_be_had_again(void **state)
{
    struct wr_chance a = {42}, b = {42};
    unsigned seen[3] = {0};

    (void)state;
    for (int i = 0; i < 3000; i++) {
        uint64_t drawn = wr_chance_below(&a, 3);
        assert_int_equal(drawn, wr_chance_below(&b, 3));
        seen[drawn]++;
    }
    for (int i = 0; i < 3; i++)
        assert_in_range(seen[i], 850, 1150);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arms_are_covered),
        cmocka_unit_test(pairs_are_covered),
        cmocka_unit_test(shares_are_covered),
        cmocka_unit_test(the_needed_number_is_enough),
        cmocka_unit_test(quantiles_are_those_of_the_tables),
        cmocka_unit_test(shares_are_newcombes),
        cmocka_unit_test(too_few_have_no_verdict),
        cmocka_unit_test(chance_can_be_had_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
