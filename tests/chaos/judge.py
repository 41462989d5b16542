"""What must hold whatever went wrong."""
import collections
import json
import os
import re
import subprocess

import own
import stub as upstream

DEATH = 'weir serve: a worker '
CANNOT_BEGIN = 'ended with status 2,'  # for want of memory; the next one is tried
RESULT = re.compile(rb'^## result of \w+ \(([\w-]+)\)$', re.M)


class Verdict:
    def __init__(self):
        self.checked = collections.Counter()
        self.broken = []  # (invariant, what)

    def hold(self, invariant, is_held, what):
        self.checked[invariant] += 1
        if not is_held:
            self.broken.append((invariant, what))
        return is_held


def was_killed(proxy, outcome):
    """Whether the driver killed something while this request, or its connection, was open."""
    return any(outcome.opened < to and outcome.ended > since for since, to in proxy.kills)


def judge_answer(verdict, proxy, scenario, name, frozen, outcome):
    """Every byte reaches the client or the connection ends in time, visibly; nobody is left
    without an answer but by the driver's own doing. Returns whether the client has all of it."""
    spec = json.loads(frozen)
    if 'own' in spec:
        return judge_own(verdict, proxy, scenario, name, spec, outcome)
    body = upstream.body_of(frozen)
    where = f'{name}: {outcome.end} {outcome.status}, {len(outcome.body)} of {len(body)} bytes' \
            f' ({outcome.why}) {frozen}'
    if not verdict.hold('no hang', outcome.end != 'hang', where):
        return False
    if outcome.end == 'left':
        return False
    fails = {'breaks', 'memory'} & set(scenario.families)
    excused = was_killed(proxy, outcome) or 'memory' in scenario.families
    if outcome.end == 'none':  # without descriptors libuv takes connections to close them
        verdict.hold('an answer', excused or 'accept' in scenario.families, where)
        return False
    if outcome.status != 200:  # a reset may overtake what was sent before it
        verdict.hold('an answer', bool(fails) or excused or 'cut' in spec,
                     where + str(outcome.body[:200]))
        return False
    verdict.hold('right bytes', body.startswith(outcome.body), where)
    if outcome.end == 'whole':
        verdict.hold('a short body is seen', 'cut' not in spec and outcome.body == body, where)
    else:
        verdict.hold('a whole body', 'cut' in spec or bool(fails) or excused, where)
    return outcome.end == 'whole'


def judge_own(verdict, proxy, scenario, name, spec, outcome):
    """One whole answer or an error of the API; nothing of ours in it."""
    where = f'{name}: {outcome.end} {outcome.status} ({outcome.why}) {spec} {outcome.body[-900:]}'
    if not verdict.hold('no hang', outcome.end != 'hang', where):
        return False
    verdict.hold('nothing of ours is shown', own.OURS not in outcome.body and
                 f'own-{spec["id"]}'.encode() not in outcome.body, where)
    if outcome.end == 'left':
        return False
    # Short reads, slow clients, clocks and signals are no reason for one to fail.
    fails = bool(set(scenario.families) - {'client', 'upstream', 'clock', 'signals'})
    fails |= was_killed(proxy, outcome)
    if outcome.end != 'whole':
        verdict.hold('an answer', fails, where)
        return False
    if outcome.status != 200 and not outcome.body and 'memory' in scenario.families:
        return False  # there was none for the words of the error either
    seen = own.Seen(spec, outcome.body)
    verdict.hold('an answer', seen.is_readable and (fails or outcome.status == 200), where)
    if not seen.is_error and (seen.is_complete or outcome.status == 200):
        is_whole = seen.is_complete and own.is_whole_answer(spec, seen)
        return verdict.hold('one whole answer', is_whole, where)
    verdict.hold('an error is not complete', fails and not seen.is_complete, where)
    return False


# ---- what left to the upstream ----

def messages_of(raw):
    """Of a body that left; None: it was cut on its way and cannot be read."""
    try:
        return json.loads(raw)['messages']
    except ValueError:
        return None


def calls_with_handles(messages):
    """By the call's id, the handles in its result."""
    found = {}
    for message in messages:
        content = message.get('content')
        parts = content if isinstance(content, list) else [message]
        for part in parts:
            call = part.get('tool_call_id') or part.get('tool_use_id')
            if call:
                text = json.dumps(part.get('content')).encode()
                found[call] = set(upstream.HANDLE.findall(text))
    return found


def only_in_recalls(messages, raw):
    """Handles that stand nowhere but in calls of our tool and in what they brought: the model has
    named them, no form leads to them."""
    own = b''
    for message in messages:
        content = message.get('content')
        parts = content if isinstance(content, list) else [message]
        for part in parts + (message.get('tool_calls') or []):
            name = part.get('tool_call_id') or part.get('tool_use_id') or part.get('id') or ''
            if str(name).startswith('own-'):
                own += json.dumps(part).encode()
    return {handle for handle in set(upstream.HANDLE.findall(own))
            if raw.count(handle) == own.count(handle)}


def is_original(text, original, originals):
    """A result's handle gives what the result was. One that stands for a whole loop gives it in
    writing, each result in it byte for byte."""
    if original is not None:
        return text == original
    calls = RESULT.findall(text)
    page, has_page, _ = text.rpartition(b'\n[weir: ')  # what was recalled may be taken out again
    if not calls:
        return text in originals.values() or bool(has_page) and any(
            page in whole for whole in originals.values())
    if has_page:
        return True  # a page of a loop, or a loop with such a page in it: parts of results
    return all(originals.get(call.decode(), b'?') in text for call in calls
               if not call.startswith(b'own-'))  # a recall of the proxy's, not sent by the client


def judge_handles(verdict, proxy, arrivals, sent, originals):
    """Every handle that left is recalled by another process, byte for byte."""
    wanted = {}
    for arrival in arrivals:
        request = sent.get(arrival.name)
        if not request or request.began <= proxy.destroyed:
            continue
        messages = messages_of(arrival.raw)
        if messages is None and proxy.destroyed:
            continue  # which of its handles stand in recalls alone cannot be read
        messages = messages or []
        by_call = calls_with_handles(messages)
        owners = {handle: call for call, handles in by_call.items() for handle in handles
                  if len(handles) == 1 and not call.startswith('own-')}
        recalled = {handle for call, handles in by_call.items() if call.startswith('own-')
                    for handle in handles} | only_in_recalls(messages, arrival.raw)
        for handle in arrival.handles:
            if proxy.destroyed and handle in recalled and handle not in owners:
                verdict.checked['in a recall, as the driver took its store away'] += 1
                continue
            wanted.setdefault(handle, (arrival.name, originals.get(owners.get(handle))))
    for handle, (name, original) in sorted(wanted.items()):
        made = subprocess.run([os.environ.get('WEIR', 'build/weir'), 'recall', handle.decode(),
                               '--store', proxy.where], capture_output=True, check=False)
        is_right = made.returncode == 0 and is_original(made.stdout, original, originals)
        verdict.hold('a handle is recalled', is_right, f'{handle.decode()} of {name}: status '
                     f'{made.returncode}, {len(made.stdout)} bytes of '
                     f'{len(original or b"")}, {made.stderr.decode()[:200]}')


def without_markers(message):
    """Cache markers may move."""
    if isinstance(message, dict):
        return {k: without_markers(v) for k, v in message.items() if k != 'cache_control'}
    return [without_markers(m) for m in message] if isinstance(message, list) else message


def log_lines(proxy):
    """By session and size of what came; of a leg, which nobody sent, by that of what left."""
    lines = collections.defaultdict(list)
    try:
        with open(proxy.log_path, encoding='utf-8', errors='replace') as file:
            for text in file:
                try:
                    line = json.loads(text)
                except ValueError:
                    continue  # a line that the disk had no room for
                name = str(line.get('session', '')).partition(':')[2]
                is_leg = bool(line.get('own_recall_leg'))
                size = line.get('body_bytes_after' if is_leg else 'body_bytes_received')
                lines[name, is_leg, size].append(line)
    except OSError:
        pass
    return lines


def is_raw(line):
    """It went as it came, for trouble that the line names."""
    return line.get('held_back') or line.get('not_read')


def is_declared(line):
    return line.get('step') or is_raw(line)


def begins_with(after, before):
    first = without_markers(json.loads(before.raw)['messages'])
    return without_markers(json.loads(after.raw)['messages'])[:len(first)] == first


def left_out(lines):
    return max((line.get('own_recalls_left_out') or 0 for line in lines), default=0)


class Stability:
    """What a request repeats leaves with the same bytes, unless the log declares a step."""

    def __init__(self, verdict, proxy, arrivals, sent):
        self.verdict, self.proxy, self.sent = verdict, proxy, sent
        self.lines = log_lines(proxy)
        self.legs = collections.defaultdict(list)
        for arrival in arrivals:
            if arrival.is_whole and arrival.name in sent:
                self.legs[arrival.name].append(arrival)

    def lines_of(self, name):
        """Of a request, and of its legs."""
        request = self.sent[name]
        found = list(self.lines.get((request.session.name, False, request.body_bytes), []))
        for leg in self.legs[name]:
            found += self.lines.get((request.session.name, True, len(leg.raw)), [])
        return found

    def has_line(self, name, leg):
        request = self.sent[name]
        if leg is self.legs[name][0]:
            return (request.session.name, False, request.body_bytes) in self.lines
        return (request.session.name, True, len(leg.raw)) in self.lines

    def judge(self):
        order = collections.defaultdict(list)
        for name, legs in self.legs.items():
            order[self.sent[name].session.name].append(legs)
        for of_session in order.values():
            of_session.sort(key=lambda legs: self.sent[legs[0].name].count)
            for before, after in zip(of_session, of_session[1:]):
                self.compare(before, after)

    def compare(self, before, after):
        """Each leg with the one before it, then the last with the first of the next request."""
        for one, next_one in zip(before, before[1:]):
            self.judge_pair([one], next_one, before[0], before[0])
        self.judge_pair(before, after[0], before[0], after[0])

    def excuse(self, earlier, later, after, last):
        """Why a change that is not declared is none of the program's; None: it is."""
        sent = self.sent
        if sent[earlier.name].began <= self.proxy.destroyed:
            return 'changed, as the driver took the marks away'
        if not last or not self.has_line(later.name, after):
            return 'changed, and a line of the log is lost'
        # Nobody knows of which conversation it was; that the next declares it is tried for, and is
        # held by src/proxy/departures_test.c.
        if any(line.get('not_read') == 'no_memory' and not line.get('model') for line in last):
            return 'changed back, behind one that there was no memory to read'
        if any(map(is_raw, last)) and any(
                sent[earlier.name].began < to and since < sent[later.name].began
                for since, to in self.proxy.restarts):
            return 'changed back, after a restart behind one that went as it came'
        return None

    def judge_pair(self, before, after, earlier, later):
        """`before` are the legs of one answer, of which the last is repeated."""
        sent = self.sent
        if begins_with(after, before[-1]):
            self.verdict.hold('same bytes again', True, '')
            return
        # One in between that could not be sent may have taken the step.
        between = range(sent[earlier.name].count + (earlier is not later),
                        sent[later.name].count + 1)
        found = [line for name, request in sent.items()
                 if request.session is sent[earlier.name].session and request.count in between
                 for line in self.lines_of(name)]
        last = self.lines_of(earlier.name)
        is_declared_now = any(map(is_declared, found))
        # Of an answer that did not reach the client whole, or whose recalls are out for good, an
        # earlier leg stays.
        if any(begins_with(after, leg) for leg in before):
            is_declared_now |= left_out(found) > left_out(last)
            is_declared_now |= not sent[earlier.name].is_answered
        excuse = None if is_declared_now else self.excuse(earlier, later, after, last)
        if excuse:
            self.verdict.checked[excuse] += 1
            return
        first = without_markers(json.loads(before[-1].raw)['messages'])
        second = without_markers(json.loads(after.raw)['messages'])
        changed = next((i for i, (a, b) in enumerate(zip(first, second)) if a != b), len(second))
        self.verdict.hold('same bytes again', is_declared_now,
                          f'{earlier.name} and {later.name} differ at message {changed}, '
                          f'undeclared; {len(before[-1].raw)} and {len(after.raw)} bytes')


# ---- the process ----

def judge_process(verdict, proxy, scenario, exchanges, stopped):
    deaths = [line for line in proxy.errors().splitlines()
              if DEATH in line and CANNOT_BEGIN not in line]
    allowed = proxy.allowed_deaths
    verdict.hold('no worker dies by itself', len(deaths) <= allowed,
                 f'{len(deaths)} deaths, {allowed} by the driver: {deaths[:3]}')
    verdict.hold('no request stays open', exchanges == 0, f'{exchanges} open')
    verdict.hold('it stops when told', stopped == 0, f'status {stopped}')
