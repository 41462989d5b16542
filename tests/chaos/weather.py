"""What goes wrong in a run, by its seed: faults of system calls, and acts of the driver.

A scenario is made whole from the seed; families that are not asked for are taken out of it
afterwards, so that a seed means the same whichever are.
"""
import random

import talk

# By family: faults with their odds of 10,000, and the stretches of calls that go bad together.
FAULTS = {
    'client': (('client.short', (500, 3000), (1, 8)), ('client.again', (500, 3000), (1, 4)),
               ('client.eintr', (200, 2000), (1, 2)), ('accept.again', (1000, 5000), (1, 2)),
               ('poll.eintr', (200, 2000), (1, 3))),
    'upstream': (('upstream.short', (500, 3000), (1, 8)), ('upstream.again', (500, 3000), (1, 4)),
                 ('upstream.eintr', (200, 2000), (1, 2))),
    'breaks': (('upstream.reset', (20, 300), (1, 1)), ('upstream.connect', (500, 3000), (1, 3)),
               ('upstream.socket', (500, 3000), (1, 2))),
    'store': (('store.short', (300, 3000), (1, 8)), ('store.eintr', (300, 2000), (1, 2)),
              ('store.full', (100, 2000), (1, 60)), ('store.read', (50, 500), (1, 20)),
              ('store.write', (50, 1000), (1, 40)), ('store.sync', (300, 4000), (1, 10)),
              ('store.open', (500, 4000), (1, 5)), ('store.map', (500, 4000), (1, 4)),
              ('log.short', (1000, 5000), (1, 2)), ('log.full', (500, 5000), (1, 4))),
    'accept': (('accept.emfile', (500, 2000), (1, 2)),),
    'memory': (('memory', (1, 30), (1, 3)),),
}
# By family: acts of the driver.
ACTS = {
    'clock': ('clock_back', 'clock_forward', 'clock_forward'),
    'signals': ('signal_hup', 'signal_chld', 'signal_xfsz', 'signal_pipe', 'signal_winch'),
    'kills': ('kill_worker', 'kill_worker', 'usr1_worker', 'kill_supervisor', 'restart'),
    'size': ('limit_size',),
    'moves': ('unlink_store', 'rename_store', 'remove_folder', 'blink_folder'),
}
FAMILIES = tuple(FAULTS) + tuple(ACTS) + ('cuts',)
# Only where it is asked for, and in every seed then: the store is a PostgreSQL, behind a network.
DATABASE = 'pg'
DATABASE_ACTS = ('pg_restart', 'pg_kill', 'pg_cut', 'pg_stall', 'pg_refuse', 'pg_slow', 'pg_end',
                 'pg_full', 'pg_connections')
OF_FILES = {'store', 'moves', 'size'}  # nothing of these is a database's
KB, MB = 1024, 1024 * 1024


class Scenario:
    def __init__(self, seed, families, harder=1, is_own=False):
        rng = random.Random(f'scenario {seed}')
        self.seed = seed
        chosen = set(rng.sample(FAMILIES, rng.choice((1, 2, 2, 3))))
        plan = {family: faults_of(rng, family) for family in FAULTS}
        sessions_count = rng.randint(2, 4)
        turns_count = rng.choice((4, 6, 10, 20))
        if turns_count == 20:
            sessions_count = min(sessions_count, 3)
        self.sessions = talk.make_sessions(rng, sessions_count, turns_count)
        self.is_own = is_own
        for session in self.sessions:
            session.is_own = is_own
            if is_own:
                session.ask_alone()
        self.requests_count = sum(turns_count - s.first for s in self.sessions)
        acts = [(rng.randint(1, self.requests_count), name)
                for family in ACTS for name in acts_of(rng, family)]
        self.policy = rng.choice(('short', 'short', 'short', 'auto'))
        self.workers = rng.choice((1, 1, 2))
        self.families = sorted(chosen & set(families))
        self.plan = {name: (min(odds * harder, 7000), stretch)
                     for family in FAULTS if family in self.families
                     for name, (odds, stretch) in plan[family].items()}
        self.acts = sorted((at, name) for at, name in acts
                           if any(name in ACTS[f] for f in ACTS if f in self.families))
        if DATABASE in families:
            self.add_database(random.Random(f'database {seed}'))

    def add_database(self, rng):
        self.families = sorted(set(self.families) - OF_FILES | {DATABASE})
        self.plan = {name: fault for name, fault in self.plan.items()
                     if name.partition('.')[0] not in ('store', 'log')}
        names = rng.choices(DATABASE_ACTS, k=rng.randint(2, 5))
        self.acts = sorted([act for act in self.acts
                            if act[1] not in ACTS['moves'] + ACTS['size']] +
                           [(rng.randint(1, self.requests_count), name) for name in names])

    def plan_text(self):
        return ','.join(f'{name}={odds}/{stretch}' for name, (odds, stretch) in self.plan.items())

    def answer(self, session, count):
        spec, pace, options = self.any_answer(session, count)
        if not self.is_own:
            return spec, pace, options
        rng = random.Random(f'own {self.seed} {session.name} {count}')
        turn = session.turns[count] if count < len(session.turns) else None
        own = {key: spec[key] for key in ('id', 'framing', 'pause_ms', 'cut', 'resets')
               if key in spec}
        own |= {'shape': rng.choice(('json', 'events', 'events')), 'api': session.api,
                'call': turn.call if turn else '', 'path': turn.path if turn else '',
                'own': rng.choice((0, 1, 1, 2)), 'is_beside': bool(turn) and rng.random() < 0.4,
                'cut_leg': rng.randrange(3), 'piece_bytes': rng.choice((20, 300, 10000))}
        if 'leaves_after' in pace:
            pace = {**pace, 'leaves_after': rng.randrange(400)}
        return own, pace, options

    def any_answer(self, session, count):
        """How the upstream answers this request, and how the client reads."""
        rng = random.Random(f'answer {self.seed} {session.name} {count}')
        size = rng.choice((rng.randint(1, 20 * KB), rng.randint(1, 20 * KB),
                           rng.randint(20 * KB, 600 * KB), rng.randint(1, 16) * MB))
        spec = {'id': f'{self.seed}-{session.name}-{count}', 'bytes': size,
                'from': rng.randrange(MB // 2), 'event_bytes': rng.choice((20, 700, 16 * KB)),
                'shape': rng.choice(('json', 'events', 'events', 'raw')),
                'framing': rng.choice(('length', 'chunked', 'chunked', 'close')),
                'piece_bytes': rng.choice((size // 4 + 1, 64 * KB, 1 * MB, 17 * MB)),
                'pause_ms': rng.choice((0, 0, 0, 5, 30))}
        if size > MB and spec['event_bytes'] < 16 * KB:
            spec['event_bytes'] = 16 * KB
        cut = (rng.random(), rng.randrange(2), rng.random())
        if 'cuts' in self.families and cut[2] < 0.3 and spec['framing'] != 'close':
            spec['cut'], spec['resets'] = cut[0], cut[1]
        pace = rng.choice(({'bytes': MB, 'pauses': 0, 'pause_ms': 0},
                           {'bytes': MB, 'pauses': 0, 'pause_ms': 0},
                           {'bytes': 64 * KB, 'pauses': 100, 'pause_ms': 4},
                           {'bytes': MB, 'pauses': 2, 'pause_ms': 250},
                           {'bytes': max(1, size // 200), 'pauses': 0, 'pause_ms': 0}))
        leaves = rng.random(), rng.randrange(size + 1)
        if leaves[0] < 0.05:
            pace = {**pace, 'leaves_after': leaves[1]}
        return spec, pace, {'receive_bytes': rng.choice((0, 0, 0, 16 * KB)),
                            'send_bytes': rng.choice((0, 0, 0, 5000)),
                            'keeps': rng.random() < 0.7}


def faults_of(rng, family):
    """Some of the family, at least one, each mild or hard."""
    kinds = rng.sample(FAULTS[family], rng.randint(1, len(FAULTS[family])))
    return {name: (rng.randint(*odds), rng.randint(*stretch)) for name, odds, stretch in kinds}


def acts_of(rng, family):
    return rng.choices(ACTS[family], k=rng.randint(2, 4))
