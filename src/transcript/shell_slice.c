/* Programs that print some lines of a file: head, tail, sed, awk, perl, bat.
 *
 * Agents read files by line numbers with these, so that `sed -n '40,80p' f` must be known as a read
 * of lines 40 to 80. Each maker here reads the program's script or options with a small scanner and
 * adds the ranges where they are given by line number. A script that does anything else leaves the
 * range unknown: the read still counts, and is marked as filtered. Nothing is guessed.
 */
#include "base/ascii.h"
#include "transcript/shell_plan.h"

/* --- a small scanner for scripts --- */

struct scan {
    weir_span text;
    size_t at;
};

static char peek_byte(const struct scan *scan)
{
    return scan->at < scan->text.len ? scan->text.ptr[scan->at] : '\0';
}

static void skip_spaces(struct scan *scan)
{
    while (wr_is_blank(peek_byte(scan)))
        scan->at++;
}

static bool take_literal(struct scan *scan, const char *text)
{
    weir_span rest = wr_span_from(scan->text, scan->at);
    if (!wr_span_starts(rest, wr_span_of(text)))
        return false;
    scan->at += strlen(text);
    return true;
}

static bool take_line_number(struct scan *scan, int64_t *number)
{
    size_t from = scan->at;
    while (wr_is_digit(peek_byte(scan)))
        scan->at++;
    uint64_t value;
    if (!wr_span_u64(wr_span_cut(scan->text, from, scan->at), &value) || value > INT32_MAX)
        return false;
    *number = (int64_t)value;
    return true;
}

/* The text between the slash at the scanner's place and the next one that is not escaped. */
static bool take_regex(struct scan *scan, weir_span *regex)
{
    size_t from = scan->at + 1;
    for (size_t i = from; i < scan->text.len; i++) {
        if (scan->text.ptr[i] == '\\') {
            i++;
        } else if (scan->text.ptr[i] == '/') {
            *regex = wr_span_cut(scan->text, from, i);
            scan->at = i + 1;
            return true;
        }
    }
    return false;
}

static bool read_whole_number(weir_span text, int64_t *number)
{
    struct scan scan = {text, 0};
    return take_line_number(&scan, number) && scan.at == text.len;
}

/* --- head, tail --- */

/* Scripts that cannot be read as numbers (`$N`) leave the range unknown. */
static struct wr_lines head_range(const struct wr_shell_token *count)
{
    weir_span text = count->text;
    int64_t lines;
    bool but_last = text.len && text.ptr[0] == '-';
    if (but_last)
        text = wr_span_from(text, 1);
    if (!count->literal || !read_whole_number(text, &lines))
        return (struct wr_lines){1, 0, false};
    return (struct wr_lines){1, but_last ? -lines - 1 : lines, false};
}

static struct wr_lines tail_range(const struct wr_shell_token *count)
{
    weir_span text = count->text;
    int64_t lines;
    bool from = text.len && text.ptr[0] == '+';
    if (text.len && (from || text.ptr[0] == '-'))
        text = wr_span_from(text, 1);
    if (!count->literal || !read_whole_number(text, &lines))
        return (struct wr_lines){0, -1, false};
    if (from)
        return (struct wr_lines){lines ? lines : 1, -1, false};
    return (struct wr_lines){-lines, -1, false};
}

void wr_shell_plan_head(struct wr_shell_plan *plan, struct wr_shell_args *args)
{
    struct wr_lines range = {1, 10, false};
    struct wr_shell_arg arg;

    while (wr_shell_next_arg(args, &arg)) {
        if (arg.is_operand)
            wr_shell_plan_file(plan, arg.word);
        else if (wr_shell_is(&arg, "n|#|lines"))
            range = head_range(&arg.word);
        else if (wr_shell_is(&arg, "c|bytes"))
            range = (struct wr_lines){1, 0, false};
    }
    if (range.end)
        wr_shell_plan_range(plan, range.start, range.end);
}

void wr_shell_plan_tail(struct wr_shell_plan *plan, struct wr_shell_args *args)
{
    struct wr_lines range = {-10, -1, false};
    struct wr_shell_arg arg;

    while (wr_shell_next_arg(args, &arg)) {
        bool old_style = arg.is_operand && !plan->files_count && arg.word.text.len > 1 &&
                         arg.word.text.ptr[0] == '+';
        if (wr_shell_is(&arg, "n|#|lines") || old_style)
            range = tail_range(&arg.word);
        else if (arg.is_operand)
            wr_shell_plan_file(plan, arg.word);
        else if (wr_shell_is(&arg, "c|bytes"))
            range = (struct wr_lines){0, -1, false};
    }
    if (range.start)
        wr_shell_plan_range(plan, range.start, range.end);
}

/* --- bat --- */

/* `A:B`, `A:`, `:B`, `A:+N`, `A`. */
static void bat_range(struct wr_shell_plan *plan, weir_span text)
{
    struct scan scan = {text, 0};
    int64_t start = 1, end = -1;
    bool has_start = take_line_number(&scan, &start);
    bool colon = take_literal(&scan, ":");
    if (!colon) {
        if (has_start && scan.at == text.len)
            wr_shell_plan_range(plan, start, start);
        return;
    }
    bool plus = take_literal(&scan, "+");
    if (scan.at < text.len && !take_line_number(&scan, &end))
        return;
    if (scan.at == text.len)
        wr_shell_plan_range(plan, start, plus ? start + end : end);
}

void wr_shell_plan_bat(struct wr_shell_plan *plan, struct wr_shell_args *args)
{
    struct wr_shell_arg arg;
    bool ranged = false;

    while (wr_shell_next_arg(args, &arg)) {
        if (arg.is_operand)
            wr_shell_plan_file(plan, arg.word);
        if (wr_shell_is(&arg, "r|line-range")) {
            bat_range(plan, arg.word.text);
            ranged = true;
        }
    }
    if (!ranged)
        wr_shell_plan_range(plan, 1, -1);
}

/* --- sed --- */

struct sed_address {
    int64_t line; /* -1: the last; 0: a regex */
    weir_span regex;
};

static bool take_address(struct scan *scan, struct sed_address *address)
{
    *address = (struct sed_address){0};
    if (take_literal(scan, "$")) {
        address->line = -1;
        return true;
    }
    if (peek_byte(scan) == '/')
        return take_regex(scan, &address->regex);
    return take_line_number(scan, &address->line) && address->line > 0;
}

struct sed_command {
    struct sed_address from, to;
    int addresses; /* 0, 1 or 2 */
    bool inverted;
    bool plus; /* `to.line` lines after `from` */
    char verb;
};

/* `{p}` and `{p;q}`: printing, and then perhaps stopping. */
static bool take_print_block(struct scan *scan)
{
    bool prints = false;
    while (peek_byte(scan) && memchr("{pq; \n", peek_byte(scan), 6)) {
        prints |= peek_byte(scan) == 'p';
        scan->at++;
    }
    return prints && take_literal(scan, "}");
}

/* One command that is nothing but addresses and one of p, d, q, = . False for anything else. */
static bool take_sed_command(struct scan *scan, struct sed_command *command)
{
    *command = (struct sed_command){0};
    skip_spaces(scan);
    if (take_address(scan, &command->from)) {
        command->addresses = 1;
        skip_spaces(scan);
        if (take_literal(scan, ",")) {
            skip_spaces(scan);
            command->plus = take_literal(scan, "+");
            bool ok = command->plus ? take_line_number(scan, &command->to.line)
                                    : take_address(scan, &command->to);
            if (!ok)
                return false;
            command->addresses = 2;
        }
    }
    skip_spaces(scan);
    command->inverted = take_literal(scan, "!");
    skip_spaces(scan);
    command->verb = peek_byte(scan);
    if (command->verb == '{' && command->addresses) {
        command->verb = 'p';
        if (!take_print_block(scan))
            return false;
    } else if (!command->verb || !memchr("pdq=Q", command->verb, 5)) {
        return false;
    } else {
        scan->at++;
    }
    skip_spaces(scan);
    return !peek_byte(scan) || take_literal(scan, ";") || take_literal(scan, "\n") ||
           peek_byte(scan) == '}';
}

static bool is_by_number(const struct sed_command *command)
{
    return command->addresses && command->from.line &&
           (command->addresses == 1 || command->to.line || command->plus);
}

static struct wr_lines sed_range(const struct sed_command *command)
{
    struct wr_lines range = {command->from.line, command->from.line, false};
    if (command->addresses == 2)
        range.end = command->plus ? command->from.line + command->to.line : command->to.line;
    if (range.end > 0 && range.end < range.start)
        range.end = range.start; /* sed prints the first line even so */
    return range;
}

/* The lines that deleting `gone` leaves. */
static void add_complement(struct wr_shell_plan *plan, struct wr_lines gone)
{
    if (gone.start < 0) {
        wr_shell_plan_range(plan, 1, gone.start - 1);
        return;
    }
    if (gone.start > 1)
        wr_shell_plan_range(plan, 1, gone.start - 1);
    if (gone.end > 0)
        wr_shell_plan_range(plan, gone.end + 1, -1);
}

/* Adds what one command prints. False where that cannot be told from line numbers. */
static bool add_sed_command(struct wr_shell_plan *plan, const struct sed_command *command,
                            bool quiet)
{
    bool prints = command->verb == 'p' && quiet && !command->inverted;
    bool keeps = command->verb == 'd' && !quiet && command->inverted;
    bool quits = (command->verb == 'q' || command->verb == 'Q') && command->addresses == 1;

    if (quits && quiet)
        return true; /* `1,20p;20q`: stops early, prints nothing more */
    if (!is_by_number(command))
        return false;
    if (prints || keeps)
        wr_shell_plan_range(plan, sed_range(command).start, sed_range(command).end);
    else if (quits && command->from.line > 0)
        wr_shell_plan_range(plan, 1,
                            command->verb == 'q' ? command->from.line : command->from.line - 1);
    else if (command->verb == 'd' && !quiet && !plan->ranges_count)
        add_complement(plan, sed_range(command));
    else
        return false;
    return true;
}

/* `s/a/b/` without an address shows every line. */
static bool is_substitution(weir_span script)
{
    script = wr_span_trim(script);
    return script.len > 2 && (script.ptr[0] == 's' || script.ptr[0] == 'y') &&
           memchr("/|#,:@!%~", script.ptr[1], 9) && !memchr(script.ptr, '\n', script.len);
}

static void plan_sed_script(struct wr_shell_plan *plan, weir_span script, bool quiet)
{
    struct scan scan = {script, 0};
    struct sed_command command = {0};
    bool by_number = true;

    if (!quiet && is_substitution(script)) {
        plan->filtered = true;
        wr_shell_plan_range(plan, 1, -1);
        return;
    }
    bool braces = take_literal(&scan, "{"); /* `{..}` around all of it means nothing */
    while (by_number && scan.at < script.len && !(braces && peek_byte(&scan) == '}'))
        by_number = take_sed_command(&scan, &command) && add_sed_command(plan, &command, quiet);
    if (by_number)
        return;

    plan->ranges_count = 0;
    plan->filtered = true;
    plan->query = command.from.regex;
    bool one_regex = command.addresses == 1 && command.from.regex.len && !command.inverted;
    if (one_regex && quiet && (command.verb == 'p' || command.verb == '='))
        plan->effect = WR_EFFECT_SEARCH;
}

enum { SED_SCRIPTS_MAX = 8 };

struct sed_options {
    bool quiet, in_place;
    bool unseen; /* a script in a file, with variables, or one too many */
    weir_span scripts[SED_SCRIPTS_MAX];
    size_t scripts_count;
};

static void add_sed_script(struct sed_options *sed, const struct wr_shell_token *script)
{
    sed->unseen |= !script->literal || sed->scripts_count == SED_SCRIPTS_MAX;
    if (sed->scripts_count < SED_SCRIPTS_MAX)
        sed->scripts[sed->scripts_count++] = script->text;
}

static void take_sed_option(struct sed_options *sed, const struct wr_shell_arg *arg)
{
    sed->quiet |= wr_shell_is(arg, "n|quiet|silent");
    sed->in_place |= wr_shell_is(arg, "i|in-place");
    sed->unseen |= wr_shell_is(arg, "f|file");
    if (wr_shell_is(arg, "e|expression"))
        add_sed_script(sed, &arg->word);
}

static void plan_sed_scripts(struct wr_shell_plan *plan, const struct sed_options *sed)
{
    if (sed->unseen || (sed->scripts_count > 1 && !sed->quiet)) {
        plan->filtered = true;
        return;
    }
    for (size_t i = 0; i < sed->scripts_count; i++)
        plan_sed_script(plan, sed->scripts[i], sed->quiet);
    if (plan->filtered && sed->scripts_count > 1)
        plan->ranges_count = 0;
}

void wr_shell_plan_sed(struct wr_shell_plan *plan, struct wr_shell_args *args)
{
    struct sed_options sed = {0};
    struct wr_shell_arg arg;
    bool bsd_suffix = false;

    while (wr_shell_next_arg(args, &arg)) {
        if (!arg.is_operand) {
            take_sed_option(&sed, &arg);
            bsd_suffix = arg.letter == 'i' && !arg.word.text.len;
            continue;
        }
        /* BSD's sed wants the suffix as a word of its own: `sed -i '' 's/a/b/' f`. */
        if (bsd_suffix && !arg.word.text.len) {
            bsd_suffix = false;
        } else if (!sed.scripts_count && !sed.unseen) {
            add_sed_script(&sed, &arg.word);
        } else {
            wr_shell_plan_file(plan, arg.word);
        }
    }
    if (sed.in_place) {
        plan->effect = WR_EFFECT_EDIT;
        plan->from_stdin = false;
    } else {
        plan_sed_scripts(plan, &sed);
    }
}

/* --- awk, perl --- */

static bool take_variable(struct scan *scan, const char *variable)
{
    return take_literal(scan, variable) || (!strcmp(variable, "NR") && take_literal(scan, "FNR"));
}

/* Narrows `range` by one comparison of the line number. */
static bool take_comparison(struct scan *scan, const char *variable, struct wr_lines *range)
{
    static const char *const operators[] = {">=", "<=", "==", ">", "<"};
    int64_t number;
    size_t which = 0;

    skip_spaces(scan);
    if (!take_variable(scan, variable))
        return false;
    skip_spaces(scan);
    while (which < 5 && !take_literal(scan, operators[which]))
        which++;
    skip_spaces(scan);
    if (which == 5 || !take_line_number(scan, &number))
        return false;
    bool lower = which == 0 || which == 2 || which == 3,
         upper = which == 1 || which == 2 || which == 4;
    if (lower)
        range->start = which == 3 ? number + 1 : number;
    if (upper)
        range->end = which == 4 ? number - 1 : number;
    skip_spaces(scan);
    return true;
}

/* `NR>=A && NR<=B`, `NR==A`, `NR==A,NR==B`. */
static bool take_line_condition(struct scan *scan, const char *variable, struct wr_lines *range)
{
    bool open = take_literal(scan, "(");
    *range = (struct wr_lines){1, -1, false};
    if (!take_comparison(scan, variable, range))
        return false;
    if (take_literal(scan, ",")) {
        struct wr_lines last;
        if (!take_comparison(scan, variable, &last) || range->start != range->end)
            return false;
        range->end = last.end;
    } else {
        while (take_literal(scan, "&&"))
            if (!take_comparison(scan, variable, range))
                return false;
    }
    if (open && !take_literal(scan, ")"))
        return false;
    skip_spaces(scan);
    return true;
}

/* The action in braces at the scanner's place; empty where there is none. Braces inside are
 * counted. */
static weir_span take_action(struct scan *scan)
{
    size_t depth = 0, from = scan->at;
    if (peek_byte(scan) != '{')
        return (weir_span){"", 0};
    for (; scan->at < scan->text.len; scan->at++) {
        depth += peek_byte(scan) == '{';
        if (peek_byte(scan) == '}' && !--depth) {
            scan->at++;
            break;
        }
    }
    return wr_span_trim(
        wr_span_cut(scan->text, from + 1, scan->at > from + 1 ? scan->at - 1 : from + 1));
}

static bool is_print(weir_span action)
{
    return !action.len || wr_span_starts(action, WR_LIT("print"));
}

/* What may follow a rule: rules that only stop early. */
static bool rest_only_stops(struct scan *scan)
{
    weir_span rest = wr_span_trim(wr_span_from(scan->text, scan->at));
    while (rest.len && rest.ptr[0] == ';')
        rest = wr_span_trim(wr_span_from(rest, 1));
    if (!rest.len)
        return true;
    struct scan next = {rest, 0};
    struct wr_lines unused;
    if (!take_line_condition(&next, "NR", &unused))
        return false;
    weir_span action = take_action(&next);
    return wr_span_starts(action, WR_LIT("exit")) && next.at == rest.len;
}

static void plan_awk_program(struct wr_shell_plan *plan, weir_span program)
{
    struct scan scan = {wr_span_trim(program), 0};
    struct wr_lines range;
    weir_span regex;

    if (peek_byte(&scan) == '{') {
        plan->filtered = true; /* every line, in another shape */
        if (is_print(take_action(&scan)) && scan.at == scan.text.len)
            wr_shell_plan_range(plan, 1, -1);
        return;
    }
    if (peek_byte(&scan) == '/' && take_regex(&scan, &regex)) {
        skip_spaces(&scan);
        bool one = peek_byte(&scan) != ',';
        plan->filtered = true;
        plan->query = regex;
        if (one && is_print(take_action(&scan)) && scan.at == scan.text.len)
            plan->effect = WR_EFFECT_SEARCH;
        return;
    }
    if (take_line_condition(&scan, "NR", &range) && is_print(take_action(&scan)) &&
        rest_only_stops(&scan)) {
        wr_shell_plan_range(plan, range.start, range.end);
        return;
    }
    plan->filtered = true;
}

void wr_shell_plan_awk(struct wr_shell_plan *plan, struct wr_shell_args *args)
{
    struct wr_shell_arg arg;
    bool has_program = false;

    while (wr_shell_next_arg(args, &arg)) {
        if (wr_shell_is(&arg, "f|file")) {
            has_program = plan->filtered = true;
        } else if (arg.is_operand && !has_program) {
            has_program = true;
            if (arg.word.literal)
                plan_awk_program(plan, arg.word.text);
            else
                plan->filtered = true;
        } else if (arg.is_operand) {
            wr_shell_plan_file(plan, arg.word);
        }
    }
}

/* `print if 10..20` and `print if $. >= 10 && $. <= 20`. */
static void plan_perl_script(struct wr_shell_plan *plan, weir_span script)
{
    struct scan scan = {wr_span_trim(script), 0};
    struct wr_lines range = {0, 0, false};
    plan->filtered = true;
    if (!take_literal(&scan, "print if ") && !take_literal(&scan, "print if"))
        return;
    skip_spaces(&scan);
    if (peek_byte(&scan) == '/') {
        weir_span regex;
        if (take_regex(&scan, &regex)) {
            plan->query = regex;
            skip_spaces(&scan);
            if (scan.at == scan.text.len)
                plan->effect = WR_EFFECT_SEARCH;
        }
        return;
    }
    bool dots = take_line_number(&scan, &range.start) && take_literal(&scan, "..") &&
                take_line_number(&scan, &range.end);
    if (!dots && !take_line_condition(&scan, "$.", &range))
        return;
    take_literal(&scan, ";");
    if (scan.at == scan.text.len) {
        plan->filtered = false;
        wr_shell_plan_range(plan, range.start, range.end);
    }
}

void wr_shell_plan_perl(struct wr_shell_plan *plan, struct wr_shell_args *args)
{
    struct wr_shell_arg arg;
    struct wr_shell_token script = {0};
    bool in_place = false, loops = false, has_script = false;

    while (wr_shell_next_arg(args, &arg)) {
        in_place |= arg.letter == 'i';
        loops |= arg.letter == 'n' || arg.letter == 'p';
        if (arg.letter == 'e' || arg.letter == 'E') {
            has_script = true;
            script = arg.word;
        } else if (arg.is_operand) {
            if (!has_script)
                break; /* perl script.pl ...: what follows is the script's own */
            wr_shell_plan_file(plan, arg.word);
        }
    }
    if (!has_script || !loops)
        return;
    plan->kind = WR_SHELL_PLAN_FILES;
    if (in_place) {
        plan->effect = WR_EFFECT_EDIT;
        plan->from_stdin = false;
    } else if (script.literal) {
        plan_perl_script(plan, script.text);
    } else {
        plan->filtered = true;
    }
}
