#include "net/outflow.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/span.h"

/* A writer without a socket: the test says what it takes at once, and when the rest has gone. As
 * libuv's does, it takes nothing at once while something waits. */
enum { WRITES_MAX = 16 };

struct writer {
    struct wr_buf written;    /* all that was handed to it, in order */
    size_t waits[WRITES_MAX]; /* of each write that has not ended: what is left of it */
    struct wr_buf taken[WRITES_MAX];
    size_t waits_count;
    size_t takes_now; /* in eighths of what it is given */
    bool is_broken;
};

static ssize_t write_now(void *user, weir_span bytes)
{
    struct writer *w = user;
    if (w->is_broken)
        return -1;
    size_t taken = w->waits_count ? 0 : bytes.len * w->takes_now / 8;
    wr_buf_append(&w->written, wr_span_cut(bytes, 0, taken));
    return (ssize_t)taken;
}

static bool write_later(void *user, struct wr_buf *bytes, size_t from)
{
    struct writer *w = user;
    if (w->waits_count == WRITES_MAX)
        return false;
    wr_buf_append(&w->written, wr_span_cut(wr_buf_view(bytes), from, bytes->len));
    w->waits[w->waits_count] = bytes->len - from;
    w->taken[w->waits_count++] = *bytes;
    return true;
}

static size_t waiting_bytes(void *user)
{
    const struct writer *w = user;
    size_t bytes = 0;
    for (size_t i = 0; i < w->waits_count; i++)
        bytes += w->waits[i];
    return bytes;
}

static const struct wr_outflow_writer writer = {write_now, write_later, waiting_bytes};

static void end_write(struct writer *w, size_t which)
{
    wr_buf_release(&w->taken[which]);
    w->waits_count--;
    for (size_t i = which; i < w->waits_count; i++) {
        w->waits[i] = w->waits[i + 1];
        w->taken[i] = w->taken[i + 1];
    }
}

/* ---- a connection with one who writes ---- */

static const struct wr_outflow_marks marks = {.high_bytes = 8, .low_bytes = 2, .hand_bytes = 5};

struct talk {
    struct wr_outflow flow;
    struct writer w;
    struct wr_buf said;
    bool waits; /* the one who writes was told that there is no room */
    size_t rooms, ends;
    const char *wrong;
};

static void begin_talk(struct talk *talk)
{
    *talk = (struct talk){0};
    wr_buf_init(&talk->w.written, 4096);
    wr_buf_init(&talk->said, 4096);
    wr_outflow_init(&talk->flow, &marks, &writer, &talk->w);
}

static void end_talk(struct talk *talk)
{
    while (talk->w.waits_count)
        end_write(&talk->w, 0);
    wr_outflow_release(&talk->flow);
    wr_buf_release(&talk->w.written);
    wr_buf_release(&talk->said);
}

static void settle(struct talk *talk)
{
    switch (wr_outflow_settle(&talk->flow)) {
    case WR_OUTFLOW_HAS_ROOM:
        if (!talk->waits)
            talk->wrong = "room for one who does not wait";
        if (wr_outflow_queued_bytes(&talk->flow) > marks.low_bytes)
            talk->wrong = "room though too much is queued";
        talk->waits = false;
        talk->rooms++;
        break;
    case WR_OUTFLOW_IS_GONE:
        if (wr_outflow_queued_bytes(&talk->flow))
            talk->wrong = "gone though something is queued";
        talk->ends++;
        break;
    case WR_OUTFLOW_IS_BROKEN:
        talk->wrong = "broken";
        break;
    case WR_OUTFLOW_NO_NEWS:
        break;
    }
}

static void add(struct talk *talk, size_t bytes)
{
    if (talk->waits)
        return;
    if (!wr_outflow_has_room(&talk->flow)) {
        talk->waits = true;
        return;
    }
    for (size_t i = 0; i < bytes; i++) {
        char c = (char)('a' + talk->said.len % 26);
        wr_buf_byte(&talk->said, c);
        wr_buf_byte(wr_outflow_buf(&talk->flow), c);
    }
    wr_outflow_added(&talk->flow);
}

/* What server.c does when the turn of its loop ends. */
static void turn(struct talk *talk, size_t takes_now)
{
    talk->w.takes_now = takes_now;
    wr_outflow_hand_on(&talk->flow);
    talk->w.takes_now = 0;
    settle(talk);
}

static void finish_write(struct talk *talk, size_t which)
{
    if (which < talk->w.waits_count) {
        end_write(&talk->w, which);
        settle(talk);
    }
}

static void take_step(struct talk *talk, char step)
{
    switch (step) {
    case 's': /* a little is written */
        add(talk, 1);
        break;
    case 'm': /* more, but not yet worth to be handed on */
        add(talk, 4);
        break;
    case 'l': /* so much that it is handed on at once, to a socket that takes nothing */
        add(talk, 7);
        break;
    case '0': /* the turn ends, and the socket takes nothing */
        turn(talk, 0);
        break;
    case '4': /* half */
        turn(talk, 4);
        break;
    case '8': /* all */
        turn(talk, 8);
        break;
    case 'a': /* the first write ends */
        finish_write(talk, 0);
        break;
    case 'b': /* the second, before it */
        finish_write(talk, 1);
        break;
    case 'c':
        finish_write(talk, 2);
        break;
    default: /* part of the first has gone, which nobody is told */
        if (talk->w.waits_count && talk->w.waits[0] > 1)
            talk->w.waits[0] = 1;
        break;
    }
}

static const char steps[] = "sml048abcp";
enum { STEPS_COUNT = sizeof(steps) - 1, LONGEST = 6 };

/* ---- how it goes on ---- */

static bool is_whole(const struct talk *talk)
{
    return talk->said.len == talk->w.written.len &&
           (!talk->said.len || !memcmp(talk->said.bytes, talk->w.written.bytes, talk->said.len));
}

/* From here on the client takes everything. */
static void take_all(struct talk *talk, bool newest_first)
{
    turn(talk, 8);
    while (talk->w.waits_count)
        finish_write(talk, newest_first ? talk->w.waits_count - 1 : 0);
    turn(talk, 8);
}

static void goes_on(struct talk *talk, bool newest_first)
{
    take_all(talk, newest_first);
    if (talk->waits)
        talk->wrong = "it waits for ever";
    add(talk, 7);
    if (talk->waits)
        talk->wrong = "nothing is queued and there is no room";
}

static void ends(struct talk *talk, bool newest_first)
{
    size_t rooms = talk->rooms;

    wr_outflow_end(&talk->flow);
    take_all(talk, newest_first);
    settle(talk);
    if (talk->ends != 1)
        talk->wrong = talk->ends ? "it ends twice" : "it does not end";
    if (talk->rooms != rooms)
        talk->wrong = "room behind the end";
}

/* Steps as the digits of a number, the first is the lowest. */
static void try_steps(size_t number, size_t count)
{
    for (int fate = 0; fate < 4; fate++) {
        struct talk talk;
        char said[LONGEST + 1] = "";
        size_t rest = number;

        begin_talk(&talk);
        for (size_t i = 0; i < count; i++, rest /= STEPS_COUNT) {
            said[i] = steps[rest % STEPS_COUNT];
            take_step(&talk, said[i]);
        }
        if (fate < 2)
            goes_on(&talk, fate);
        else
            ends(&talk, fate - 2);
        turn(&talk, 8);
        take_all(&talk, false);
        if (!talk.wrong && !is_whole(&talk))
            talk.wrong = "what went out is not what was said";
        if (talk.wrong)
            fail_msg("%s, then %s: %s", said, fate < 2 ? "on" : "the end", talk.wrong);
        end_talk(&talk);
    }
}

static void nobody_waits_for_ever(void **state)
{
    (void)state;
    size_t number_max = 1;
    for (size_t count = 1; count <= LONGEST; count++) {
        number_max *= STEPS_COUNT;
        for (size_t number = 0; number < number_max; number++)
            try_steps(number, count);
    }
}

static void rest_taken_at_once_is_room(void **state)
{
    struct talk talk;
    (void)state;
    begin_talk(&talk);
    take_step(&talk, 'l'); /* a write is under way */
    take_step(&talk, 'm'); /* behind it more than the low mark */
    take_step(&talk, 's');
    assert_true(talk.waits);
    take_step(&talk, 'a'); /* the last write ends: there is still too much */
    assert_true(talk.waits);
    take_step(&talk, '8'); /* and that goes without any write that could end */
    assert_false(talk.waits);
    end_talk(&talk);
}

static void failures_stay(void **state)
{
    struct talk talk;
    (void)state;
    begin_talk(&talk);
    add(&talk, 7);
    add(&talk, 4);
    add(&talk, 1);
    assert_true(talk.waits);
    wr_outflow_fail(&talk.flow);
    assert_int_equal(wr_outflow_settle(&talk.flow), WR_OUTFLOW_IS_BROKEN);
    end_write(&talk.w, 0);
    wr_outflow_end(&talk.flow);
    wr_outflow_hand_on(&talk.flow);
    assert_int_equal(wr_outflow_settle(&talk.flow), WR_OUTFLOW_IS_BROKEN);
    end_talk(&talk);

    begin_talk(&talk);
    talk.w.is_broken = true;
    add(&talk, 1);
    wr_outflow_hand_on(&talk.flow);
    assert_int_equal(wr_outflow_settle(&talk.flow), WR_OUTFLOW_IS_BROKEN);
    end_talk(&talk);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(rest_taken_at_once_is_room),
                                       cmocka_unit_test(nobody_waits_for_ever),
                                       cmocka_unit_test(failures_stay)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
