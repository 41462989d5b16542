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
RESULT = re.compile(rb'^## result of \w+ \((\w+)\)$', re.M)


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
    without an answer but by the driver's own doing."""
    spec = json.loads(frozen)
    if 'own' in spec:
        judge_own(verdict, proxy, scenario, name, spec, outcome)
        return
    body = upstream.body_of(frozen)
    where = f'{name}: {outcome.end} {outcome.status}, {len(outcome.body)} of {len(body)} bytes' \
            f' ({outcome.why}) {frozen}'
    if not verdict.hold('no hang', outcome.end != 'hang', where):
        return
    if outcome.end == 'left':
        return
    fails = {'breaks', 'memory'} & set(scenario.families)
    excused = was_killed(proxy, outcome) or 'memory' in scenario.families
    if outcome.end == 'none':  # without descriptors libuv takes connections to close them
        verdict.hold('an answer', excused or 'accept' in scenario.families, where)
        return
    if outcome.status != 200:  # a reset may overtake what was sent before it
        verdict.hold('an answer', bool(fails) or excused or 'cut' in spec,
                     where + str(outcome.body[:200]))
        return
    verdict.hold('right bytes', body.startswith(outcome.body), where)
    if outcome.end == 'whole':
        verdict.hold('a short body is seen', 'cut' not in spec and outcome.body == body, where)
    else:
        verdict.hold('a whole body', 'cut' in spec or bool(fails) or excused, where)


def judge_own(verdict, proxy, scenario, name, spec, outcome):
    """One whole answer or an error of the API; nothing of ours in it."""
    where = f'{name}: {outcome.end} {outcome.status} ({outcome.why}) {spec} {outcome.body[-900:]}'
    if not verdict.hold('no hang', outcome.end != 'hang', where):
        return
    verdict.hold('nothing of ours is shown', own.OURS not in outcome.body and
                 f'own-{spec["id"]}'.encode() not in outcome.body, where)
    if outcome.end == 'left':
        return
    # Short reads, slow clients, clocks and signals are no reason for one to fail.
    fails = bool(set(scenario.families) - {'client', 'upstream', 'clock', 'signals'})
    fails |= was_killed(proxy, outcome)
    if outcome.end != 'whole':
        verdict.hold('an answer', fails, where)
        return
    seen = own.Seen(spec, outcome.body)
    verdict.hold('an answer', seen.is_readable and (fails or outcome.status == 200), where)
    if not seen.is_error and (seen.is_complete or outcome.status == 200):
        is_whole = seen.is_complete and own.is_whole_answer(spec, seen)
        verdict.hold('one whole answer', is_whole, where)
    else:
        verdict.hold('an error is not complete', fails and not seen.is_complete, where)


# ---- what left to the upstream ----

def calls_with_handles(raw):
    """Of a body that left: by the call's id, the handles in its result; None: it cannot be read."""
    try:
        body = json.loads(raw)
    except ValueError:
        return None
    found = {}
    for message in body['messages']:
        content = message.get('content')
        parts = content if isinstance(content, list) else [message]
        for part in parts:
            call = part.get('tool_call_id') or part.get('tool_use_id')
            if call:
                text = json.dumps(part.get('content')).encode()
                found[call] = set(upstream.HANDLE.findall(text))
    return found


def is_original(text, original, originals):
    """A result's handle gives what the result was. One that stands for a whole loop gives it in
    writing, each result in it byte for byte."""
    if original is not None:
        return text == original
    calls = RESULT.findall(text)
    if not calls:
        return text in originals.values()
    return all(originals.get(call.decode(), b'?') in text for call in calls)


def judge_handles(verdict, proxy, arrivals, sent, originals):
    """Every handle that left is recalled by another process, byte for byte."""
    wanted = {}
    for arrival in arrivals:
        request = sent.get(arrival.name)
        if not request or request.began <= proxy.destroyed:
            continue
        by_call = calls_with_handles(arrival.raw) or {}
        owners = {handle: call for call, handles in by_call.items() for handle in handles
                  if len(handles) == 1}
        for handle in arrival.handles:
            wanted.setdefault(handle, (arrival.name, originals.get(owners.get(handle))))
    for handle, (name, original) in sorted(wanted.items()):
        made = subprocess.run([os.environ.get('WEIR', 'build/weir'), 'recall', handle.decode(),
                               '--store', proxy.store], capture_output=True, check=False)
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
    lines = collections.defaultdict(list)
    try:
        with open(proxy.log_path, encoding='utf-8', errors='replace') as file:
            for text in file:
                try:
                    line = json.loads(text)
                except ValueError:
                    continue  # a line that the disk had no room for
                key = (str(line.get('session', '')).partition(':')[2],
                       line.get('body_bytes_received'))
                lines[key].append(line)
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


def judge_stability(verdict, proxy, arrivals, sent):
    """What a request repeats leaves with the same bytes, unless the log declares a step."""
    newest = {a.name: a for a in arrivals if a.is_whole and a.name in sent}
    legs = collections.defaultdict(list)
    for arrival in arrivals:
        if arrival.is_whole:
            legs[arrival.name].append(arrival)
    order = collections.defaultdict(list)
    for arrival in newest.values():
        order[sent[arrival.name].session.name].append(arrival)
    lines = log_lines(proxy)
    for name, of_session in order.items():
        of_session.sort(key=lambda a: sent[a.name].count)
        for before, after in zip(of_session, of_session[1:]):
            first = without_markers(json.loads(before.raw)['messages'])
            second = without_markers(json.loads(after.raw)['messages'])[:len(first)]
            # Of an answer whose recalls were not kept, or are out for good, an earlier leg stays.
            if first == second or any(begins_with(after, leg) for leg in legs[before.name]):
                verdict.hold('same bytes again', True, '')
                continue
            if sent[before.name].began <= proxy.destroyed:
                verdict.checked['changed, as the driver took the marks away'] += 1
                continue
            # One in between that could not be sent may have taken the step.
            between = range(sent[before.name].count + 1, sent[after.name].count + 1)
            found = [line for request in sent.values()
                     if request.session.name == name and request.count in between
                     for line in lines.get((name, request.body_bytes), [])]
            last = lines.get((name, sent[before.name].body_bytes), [])
            if not found or not last:
                verdict.checked['changed, and a line of the log is lost'] += 1
                continue
            if any(is_raw(line) for line in last) and not any(map(is_declared, found)):
                verdict.checked['changed back, after one that went as it came'] += 1
                continue
            changed = next((i for i, (a, b) in enumerate(zip(first, second)) if a != b), 0)
            verdict.hold('same bytes again', any(map(is_declared, found)),
                         f'{before.name} and {after.name} differ at message {changed}, undeclared;'
                         f' {len(before.raw)} and {len(after.raw)} bytes')


# ---- the process ----

def judge_process(verdict, proxy, scenario, exchanges, stopped):
    deaths = [line for line in proxy.errors().splitlines()
              if DEATH in line and CANNOT_BEGIN not in line]
    allowed = proxy.allowed_deaths
    verdict.hold('no worker dies by itself', len(deaths) <= allowed,
                 f'{len(deaths)} deaths, {allowed} by the driver: {deaths[:3]}')
    verdict.hold('no request stays open', exchanges == 0, f'{exchanges} open')
    verdict.hold('it stops when told', stopped == 0, f'status {stopped}')
