/* How far apart two arms are. The reasons for each method are in the header; here is the
 * arithmetic.
 *
 *   figure     R = sum(y) / sum(x)
 *   its error  sqrt(n / (n - 1) * sum((y - R x)^2)) / sum(x), with n - 1 degrees of freedom
 *   two arms   errors add in squares; degrees of freedom by Welch and Satterthwaite
 *   percent    log(R2 / R1), whose error is that of R1 and R2 in parts of themselves
 */
#include "compare/stats.h"

#include <float.h>
#include <math.h>

/* Both sides of 95 %; and for the number of units: 95 % and a power of 80 % on a normal curve. */
static const double level = 0.975;
static const double level_normal = 1.959964, power_normal = 0.841621;
static const double apart = 0.04879016; /* log(1.05) */

enum { STEPS_MAX = 200 };

/* ---- Student's t ---- */

/* The continued fraction of the incomplete beta function, by Lentz's method. */
static double beta_fraction(double a, double b, double x)
{
    double c = 1, d = 1 - (a + b) * x / (a + 1);

    d = fabs(d) < DBL_MIN ? 1 / DBL_MIN : 1 / d;
    double result = d;
    for (int m = 1; m < STEPS_MAX; m++) {
        double two = 2.0 * m;
        double even = m * (b - m) * x / ((a + two - 1) * (a + two));
        double odd = -(a + m) * (a + b + m) * x / ((a + two) * (a + two + 1));
        d = 1 / (1 + even * d);
        c = 1 + even / c;
        result *= d * c;
        d = 1 / (1 + odd * d);
        c = 1 + odd / c;
        double change = d * c;
        result *= change;
        if (fabs(change - 1) < 1e-12)
            break;
    }
    return result;
}

static double incomplete_beta(double a, double b, double x)
{
    if (x <= 0 || x >= 1)
        return x <= 0 ? 0 : 1;
    double front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
    return x < (a + 1) / (a + b + 2) ? front * beta_fraction(a, b, x) / a
                                     : 1 - front * beta_fraction(b, a, 1 - x) / b;
}

static double t_share(double t, double freedom)
{
    return 1 - incomplete_beta(freedom / 2, 0.5, freedom / (freedom + t * t)) / 2;
}

double wr_t_quantile(double share, double freedom)
{
    double low = 0, high = 1;

    while (t_share(high, freedom) < share && high < 1e6)
        high *= 2;
    for (int i = 0; i < STEPS_MAX && high - low > 1e-9 * high; i++) {
        double middle = (low + high) / 2;
        if (t_share(middle, freedom) < share)
            low = middle;
        else
            high = middle;
    }
    return (low + high) / 2;
}

/* ---- one arm ---- */

void wr_arm_add(struct wr_arm *arm, double quantity, double size)
{
    arm->count++;
    arm->quantity += quantity;
    arm->size += size;
    arm->quantity_2 += quantity * quantity;
    arm->size_2 += size * size;
    arm->quantity_size += quantity * size;
}

double wr_arm_figure(const struct wr_arm *arm)
{
    return arm->size > 0 ? arm->quantity / arm->size : 0;
}

/* The square of the figure's error. */
static double variance_of(const struct wr_arm *arm)
{
    double figure = wr_arm_figure(arm), n = (double)arm->count;
    double left = arm->quantity_2 - 2 * figure * arm->quantity_size + figure * figure * arm->size_2;

    if (arm->count < 2 || arm->size <= 0)
        return 0;
    return (left > 0 ? left : 0) * n / (n - 1) / (arm->size * arm->size);
}

/* ---- two arms ---- */

const char *wr_verdict_name(enum wr_verdict verdict)
{
    static const char *const names[] = {[WR_VERDICT_TOO_FEW] = "too_few",
                                        [WR_VERDICT_UNKNOWN] = "unknown",
                                        [WR_VERDICT_LESS] = "less",
                                        [WR_VERDICT_MORE] = "more"};
    return names[verdict];
}

static enum wr_verdict judge_interval(double low, double high)
{
    return high < 0 ? WR_VERDICT_LESS : low > 0 ? WR_VERDICT_MORE : WR_VERDICT_UNKNOWN;
}

/* How many errors wide half an interval is whose squared errors are of `a` and `b`. */
static double width_of(double a, uint64_t a_count, double b, uint64_t b_count)
{
    double total = a + b;

    if (total <= 0)
        return 0;
    double freedom =
        total * total / (a * a / (double)(a_count - 1) + b * b / (double)(b_count - 1));
    return wr_t_quantile(level, freedom);
}

/* How far the figure may be from what it is, in one direction. A figure above 0 is skewed, as money
 * is: its limits are taken on the logarithm, further up than down. */
static double reach(double figure, double variance, double width, int direction)
{
    double error = width * sqrt(variance);
    return figure > 0 ? figure * fabs(expm1(direction * error / figure)) : error;
}

/* The limits of the two figures, put together as Newcombe does with shares (Zou and Donner). */
static void set_limits(struct wr_contrast *c, double a, double b, double width)
{
    c->low = c->difference - hypot(reach(c->second, b, width, -1), reach(c->first, a, width, 1));
    c->high = c->difference + hypot(reach(c->second, b, width, 1), reach(c->first, a, width, -1));
}

/* Enough events that a rate of the smaller arm is no accident: five are expected there. */
static bool has_events(const struct wr_arm *first, const struct wr_arm *second, uint64_t least)
{
    double events = first->quantity + second->quantity, size = first->size + second->size;
    double smaller = first->size < second->size ? first->size : second->size;

    return !least || (events >= (double)least && events * smaller / size >= (double)least / 2);
}

/* `error_2` is the square of the error of log(second / first), over `count` units. That falls with
 * their number, whose shares stay. */
static void set_percent(struct wr_contrast *c, double error_2, double width, double count)
{
    double middle = log(c->second / c->first), half = width * sqrt(error_2);
    double z = level_normal + power_normal;
    double wanted = count * error_2 * z * z / (apart * apart);

    c->has_percent = c->has_needed = true;
    c->percent = 100 * expm1(middle);
    c->percent_low = 100 * expm1(middle - half);
    c->percent_high = 100 * expm1(middle + half);
    c->verdict = judge_interval(c->percent_low, c->percent_high);
    c->needed_count = wanted > count ? (uint64_t)ceil(wanted - count) : 0;
}

/* Units more, at the present shares, until there are as many of everything as a verdict wants. 0:
 * there are, or nobody can tell. */
static uint64_t missing_units(const struct wr_arm *first, const struct wr_arm *second,
                              struct wr_least least)
{
    double count = (double)(first->count + second->count), times = 1;
    double fewest = (double)(first->count < second->count ? first->count : second->count);
    double events = first->quantity + second->quantity, size = first->size + second->size;
    double smaller = first->size < second->size ? first->size : second->size;

    if (fewest > 0 && fewest < (double)least.units)
        times = (double)least.units / fewest;
    if (least.events && events > 0 && smaller > 0) {
        times = fmax(times, (double)least.events / events);
        times = fmax(times, (double)least.events / 2 / (events * smaller / size));
    }
    return (uint64_t)ceil(count * (times - 1));
}

struct wr_contrast wr_contrast_arms(const struct wr_arm *first, const struct wr_arm *second,
                                    struct wr_least least)
{
    struct wr_contrast c = {.first = wr_arm_figure(first), .second = wr_arm_figure(second)};
    double a = variance_of(first), b = variance_of(second);

    c.difference = c.second - c.first;
    c.low = c.high = c.difference;
    c.has_percent = c.first > 0 && c.second > 0;
    c.percent = c.has_percent ? 100 * (c.second / c.first - 1) : 0;
    if (first->count < 2 || second->count < 2 || first->size <= 0 || second->size <= 0)
        return c;
    set_limits(&c, a, b, width_of(a, first->count, b, second->count));
    c.verdict = judge_interval(c.low, c.high);
    if (c.first > 0 && c.second > 0) {
        double first_part = a / (c.first * c.first), second_part = b / (c.second * c.second);
        set_percent(&c, first_part + second_part,
                    width_of(first_part, first->count, second_part, second->count),
                    (double)(first->count + second->count));
    }
    if (first->count < least.units || second->count < least.units ||
        !has_events(first, second, least.events)) {
        uint64_t missing = missing_units(first, second, least);
        c.verdict = WR_VERDICT_TOO_FEW;
        c.needed_count = missing > c.needed_count ? missing : c.needed_count;
        c.has_needed |= missing > 0;
    }
    return c;
}

/* ---- pairs ---- */

/* The squared error of log(second / first): each pair is left out once. With a dozen pairs, of
 * which a few are large, the linearised error is too small. */
static double jackknife(const double *first, const double *second, size_t count)
{
    double sum_first = 0, sum_second = 0, mean = 0, squares = 0;

    for (size_t i = 0; i < count; i++) {
        sum_first += first[i];
        sum_second += second[i];
    }
    for (int round = 0; round < 2; round++)
        for (size_t i = 0; i < count; i++) {
            double a = sum_first - first[i], b = sum_second - second[i];
            double without = a > 0 && b > 0 ? log(b / a) : 0;
            if (!round)
                mean += without / (double)count;
            else
                squares += (without - mean) * (without - mean);
        }
    return squares * ((double)count - 1) / (double)count;
}

struct wr_contrast wr_contrast_pairs(const double *first, const double *second, size_t count,
                                     uint64_t least)
{
    struct wr_arm gap = {0};
    struct wr_contrast c = {.first = 0};

    for (size_t i = 0; i < count; i++) {
        wr_arm_add(&gap, second[i] - first[i], 1);
        c.first += first[i] / (double)count;
        c.second += second[i] / (double)count;
    }
    c.difference = c.low = c.high = c.second - c.first;
    if (count < 2)
        return c;
    double width = wr_t_quantile(level, (double)count - 1);
    c.low -= width * sqrt(variance_of(&gap));
    c.high += width * sqrt(variance_of(&gap));
    c.verdict = judge_interval(c.low, c.high);
    if (c.first > 0 && c.second > 0) {
        set_percent(&c, jackknife(first, second, count), width, (double)count);
        c.low = c.first * c.percent_low / 100;
        c.high = c.first * c.percent_high / 100;
    }
    if (count < least)
        c.verdict = WR_VERDICT_TOO_FEW;
    return c;
}

/* ---- shares ---- */

/* Wilson's interval of one share. */
static void share_interval(uint64_t hits, uint64_t count, double *low, double *high)
{
    double n = (double)count, z2 = level_normal * level_normal;

    *low = 0;
    *high = 1;
    if (!count)
        return;
    double share = (double)hits / n;
    double middle = share + z2 / (2 * n);
    double half = level_normal * sqrt((share * (1 - share) + z2 / (4 * n)) / n);
    *low = hits ? (middle - half) / (1 + z2 / n) : 0;
    *high = hits < count ? (middle + half) / (1 + z2 / n) : 1;
}

struct wr_contrast wr_contrast_shares(uint64_t first_hits, uint64_t first_count,
                                      uint64_t second_hits, uint64_t second_count, uint64_t least)
{
    double l1, h1, l2, h2;
    struct wr_contrast c = {
        .first = first_count ? (double)first_hits / (double)first_count : 0,
        .second = second_count ? (double)second_hits / (double)second_count : 0,
    };

    share_interval(first_hits, first_count, &l1, &h1);
    share_interval(second_hits, second_count, &l2, &h2);
    c.difference = c.second - c.first;
    c.low = c.difference - hypot(c.second - l2, h1 - c.first);
    c.high = c.difference + hypot(h2 - c.second, c.first - l1);
    c.verdict = judge_interval(c.low, c.high);
    if (first_count < least || second_count < least)
        c.verdict = WR_VERDICT_TOO_FEW;
    return c;
}

/* ---- chance ---- */

/* splitmix64: small, and the same everywhere. */
uint64_t wr_chance_next(struct wr_chance *chance)
{
    uint64_t z = chance->state += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* Drawn again where the last, incomplete round would prefer the small ones. */
uint64_t wr_chance_below(struct wr_chance *chance, uint64_t bound)
{
    uint64_t over = UINT64_MAX - UINT64_MAX % bound, drawn;

    do
        drawn = wr_chance_next(chance);
    while (drawn >= over);
    return drawn % bound;
}
