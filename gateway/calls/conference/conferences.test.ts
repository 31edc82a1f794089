import { beforeEach, describe, expect, it } from 'vitest'
import type {
  CallControl,
  ConferenceEvent,
  ConferenceOptions,
  ConferenceParticipant,
  ConferenceResult,
} from '../../../handlers/verbs.ts'
import { CallEnded } from '../../../handlers/verbs.ts'
import { settle } from '../testing/calls-fixture.ts'
import { type ConferenceCaller, ConferenceFixture } from '../testing/conference-fixture.ts'
import { FakeRecordingStore } from '../testing/fake-recording-store.ts'
import { ProjectConferences } from './conferences.ts'

interface Joined extends ConferenceCaller {
  readonly events: ConferenceEvent[]
  readonly kinds: () => string[]
  participant: ConferenceParticipant | undefined
  result: ConferenceResult | Error | undefined
}

describe('a conference', () => {
  let fixture: ConferenceFixture
  let recordingStore: FakeRecordingStore
  let conferences: ProjectConferences

  beforeEach(() => {
    fixture = new ConferenceFixture()
    recordingStore = new FakeRecordingStore()
    conferences = new ProjectConferences({
      ...fixture,
      openMixer: fixture.openMixer,
      recordings: recordingStore,
    })
  })

  const join = async (options: Partial<ConferenceOptions> = {}, projectId?: string): Promise<Joined> => {
    const caller = fixture.caller(projectId)
    const events: ConferenceEvent[] = []
    const joined: Joined = {
      ...caller,
      events,
      kinds: () => events.map(({ kind }) => kind),
      participant: undefined,
      result: undefined,
    }
    const listeners = {
      onEvent: (event: ConferenceEvent) => void events.push(event),
      onJoined: (participant: ConferenceParticipant) => {
        joined.participant = participant
      },
    }
    conferences.join(caller.call, caller.control, { name: 'sales', ...listeners, ...options }).then(
      (result) => {
        joined.result = result
      },
      (error: Error) => {
        joined.result = error
      },
    )
    await settle()
    return joined
  }
  const mixer = (i = 0) => fixture.mixers[i]!
  const inMixer = (...callers: Joined[]) => callers.map(({ audio }) => mixer().members.has(audio))

  it('answers, plays music to the first caller, and starts with the second', async () => {
    const a = await join()
    expect([a.leg.isAnswered, a.audio.playing !== undefined, inMixer(a), a.kinds()]).toEqual([
      true,
      true,
      [false],
      ['join'],
    ])
    const b = await join()
    expect([inMixer(a, b), a.audio.playing, conferences.count]).toEqual([[true, true], undefined, 1])
    expect(a.kinds()).toEqual(['join', 'join', 'start'])
    expect(a.events.map(({ sequence, size, callId }) => [sequence, size, callId])).toEqual([
      [0, 1, a.call.id],
      [1, 2, b.call.id],
      [2, 2, undefined],
    ])
  })

  it('ends when the last participant leaves, and reports to its first participant to the end', async () => {
    const a = await join()
    const b = await join()
    fixture.clock.advance(5_000)
    a.leg.ended({ code: 'normal' })
    await settle()
    expect([a.result, inMixer(a, b)]).toMatchObject([{ kind: 'left', durationMs: 5_000 }, [false, true]])
    b.participant?.leave()
    await settle()
    expect(b.result).toMatchObject({ kind: 'left', conferenceId: a.events[0]?.conferenceId })
    expect([a.kinds().slice(-3), b.kinds()]).toEqual([['leave', 'leave', 'end'], []])
    expect([conferences.count, mixer().isClosed, b.leg.isAnswered]).toEqual([0, true, true])
  })

  it('reports the other participants to each participant while it takes part', async () => {
    const a = await join()
    const b = await join()
    const c = await join()
    const shown = () => [a, b, c].map(({ far }) => far.conference)
    expect(shown()).toEqual([
      [b.leg, c.leg],
      [a.leg, c.leg],
      [a.leg, b.leg],
    ])
    b.participant?.leave()
    await settle()
    expect(shown()).toEqual([[c.leg], [], [a.leg]])
    c.leg.ended({ code: 'normal' })
    await settle()
    expect(a.far.conference).toEqual([])
  })

  it('reports at most a hundred others to each participant', async () => {
    const all = [await join({ maxParticipants: 200 })]
    for (let i = 0; i < 110; i++) all.push(await join())
    for (const each of [all[0], all.at(-1)]) expect(each?.far.conference).toHaveLength(100)
  })

  it('is a new one in another project and after its end, under the same name', async () => {
    const a = await join({}, 'p')
    const b = await join({}, 'q')
    expect(a.events[0]?.conferenceId).not.toBe(b.events[0]?.conferenceId)
    a.leg.ended({ code: 'normal' })
    await settle()
    const c = await join({}, 'p')
    expect(c.events[0]?.conferenceId).not.toBe(a.events[0]?.conferenceId)
  })

  it('starts only with a participant that may start it', async () => {
    const a = await join({ startOnEnter: false })
    const b = await join({ startOnEnter: false })
    expect(inMixer(a, b)).toEqual([false, false])
    const c = await join()
    expect(inMixer(a, b, c)).toEqual([true, true, true])
  })

  it('ends for all when a participant with endOnExit leaves', async () => {
    const a = await join({ endOnExit: true })
    const b = await join()
    a.leg.ended({ code: 'normal' })
    await settle()
    expect([b.result, conferences.count]).toMatchObject([{ kind: 'ended' }, 0])
  })

  it('ends for all when the thread of its mixer dies', async () => {
    const a = await join()
    const b = await join()
    mixer().die()
    await settle()
    expect([a.result, b.result, conferences.count]).toMatchObject([{ kind: 'ended' }, { kind: 'ended' }, 0])
  })

  it('has the maximum size that its first participant sets', async () => {
    await join({ maxParticipants: 2 })
    await join({ maxParticipants: 9 })
    const late = await join({ maxParticipants: 9 })
    expect(late.result).toMatchObject({ kind: 'full', durationMs: 0 })
    expect(late.kinds()).toEqual([])
  })

  it('mutes a participant, and plays music to a held one', async () => {
    const a = await join({ isMuted: true })
    const b = await join()
    expect(mixer().members.get(a.audio)).toEqual({ canSpeak: false })
    a.participant?.mute(false)
    a.participant?.mute(false)
    expect(mixer().members.get(a.audio)).toEqual({ canSpeak: true })
    a.participant?.hold(true)
    await settle()
    expect([inMixer(a, b), a.audio.playing !== undefined]).toEqual([[false, true], true])
    a.participant?.hold(false)
    await settle()
    expect([inMixer(a, b), a.audio.playing]).toEqual([[true, true], undefined])
    expect(a.kinds().slice(-3)).toEqual(['unmute', 'hold', 'unhold'])
    expect(a.events.at(-2)).toMatchObject({ callId: a.call.id, isHeld: true, isMuted: false })
  })

  it('ignores requests for a caller who has left', async () => {
    const a = await join()
    await join()
    await join()
    a.participant?.leave()
    await settle()
    const before = a.kinds()
    a.participant?.hold(true)
    a.participant?.mute(true)
    await settle()
    expect([a.audio.playing === undefined, a.kinds()]).toEqual([true, before])
  })

  it('is listed for its own project alone, while a call takes part', async () => {
    const a = await join({ startOnEnter: false, coach: 'x' })
    fixture.clock.advance(1_000)
    const [conference] = await conferences.of('p')
    expect(conference).toMatchObject({
      name: 'sales',
      isStarted: false,
      openedAt: fixture.clock.now() - 1_000,
    })
    expect(conference?.participants).toMatchObject([
      { callId: a.call.id, isMuted: false, isHeld: false, options: { startOnEnter: false, coach: 'x' } },
    ])
    expect(await conferences.of('q')).toEqual([])
    conference?.end()
    await settle()
    expect([a.result, await conferences.of('p')]).toMatchObject([{ kind: 'ended' }, []])
  })

  it('can hold a participant with a document, play an announcement, and remove a participant', async () => {
    const a = await join()
    const b = await join()
    const [conference] = await conferences.of('p')
    const [one, other] = conference?.participants ?? []
    const heard: string[] = []
    const says = (what: string) => async (call: CallControl) => {
      heard.push(`${what} ${call.info.callId === a.call.id}`)
      await new Promise((over) => call.signal.addEventListener('abort', over))
    }
    one?.hold(true, says('waits'))
    await settle()
    expect([heard, inMixer(a, b), a.audio.playing]).toEqual([['waits true'], [false, true], undefined])
    one?.hold(false)
    other?.announce(says('announces'))
    await settle()
    expect([heard, inMixer(a, b)]).toEqual([
      ['waits true', 'announces false'],
      [true, true],
    ])
    other?.remove()
    await settle()
    expect([b.result, inMixer(a, b)]).toMatchObject([{ kind: 'removed' }, [true, false]])
    other?.announce(says('never'))
    expect(heard).toHaveLength(2)
  })

  it('continues after a failed announcement', async () => {
    const a = await join()
    await join()
    const [conference] = await conferences.of('p')
    conference?.participants[0]?.announce(() => Promise.reject(new Error('no such document')))
    await settle()
    expect([a.result, fixture.lines.at(-1)]).toMatchObject([undefined, { msg: 'announcement failed' }])
  })

  it('reports the speaker', async () => {
    const a = await join()
    const b = await join()
    mixer().speaks(b.audio)
    mixer().speaks(undefined)
    expect(a.events.at(-1)).toMatchObject({ kind: 'speaker', callId: b.call.id })
    expect(a.kinds().filter((kind) => kind === 'speaker')).toHaveLength(1)
  })

  it('leaves out a caller on hold, whether by telephone or by a verb', async () => {
    const a = await join()
    const b = await join()
    a.leg.hold(true)
    expect(inMixer(a, b)).toEqual([false, true])
    a.leg.hold(false)
    expect(inMixer(a, b)).toEqual([true, true])
  })

  const attendee = async ({ call }: Joined) => {
    const [conference] = await conferences.of(call.info.projectId)
    return conference!.participants.find(({ callId }) => callId === call.id)!
  }

  it('can change the coach, the end on exit, and the beep on exit of a participant', async () => {
    const a = await join()
    const b = await join({ beepOn: 'none' })
    const c = await join({ beepOn: 'none' })
    const seen = await attendee(a)
    seen.change({ coach: b.call.id })
    expect(mixer().members.get(a.audio)).toEqual({ canSpeak: true, audibleTo: [b.audio] })
    expect((await attendee(a)).options.coach).toBe(b.call.id)
    seen.change({ coach: null, beepOnExit: false, endOnExit: true })
    expect(mixer().members.get(a.audio)).toEqual({ canSpeak: true })
    const beeps = mixer().played.length
    a.leg.ended({ code: 'normal' })
    await settle()
    expect(mixer().played.length).toBe(beeps)
    expect([b.result, c.result]).toMatchObject([{ kind: 'ended' }, { kind: 'ended' }])
    // A participant that has left cannot be changed.
    seen.change({ endOnExit: false })
    expect(seen.options.endOnExit).toBe(true)
  })

  it('can change the audio of a waiting participant, which stops at the start', async () => {
    const heard: string[] = []
    const hook = (name: string) => async (call: CallControl) => {
      heard.push(name)
      const { promise, reject } = Promise.withResolvers<void>()
      call.signal.addEventListener('abort', () => reject(new CallEnded()), { once: true })
      await promise
    }
    const a = await join({ wait: hook('first') })
    ;(await attendee(a)).change({ wait: hook('second') })
    await settle()
    expect(heard).toEqual(['first', 'second'])
    await join()
    ;(await attendee(a)).change({ wait: hook('third') })
    await settle()
    expect([heard, inMixer(a)]).toEqual([['first', 'second'], [true]])
  })

  it('makes a coach audible to one participant alone, even one who joins later', async () => {
    const pupil = fixture.caller()
    await join()
    const coach = await join({ coach: pupil.call.id })
    expect(mixer().members.get(coach.audio)).toEqual({ canSpeak: true, audibleTo: [] })
    const done = conferences.join(pupil.call, pupil.control, { name: 'sales' })
    await settle()
    expect(mixer().members.get(coach.audio)).toEqual({ canSpeak: true, audibleTo: [pupil.audio] })
    pupil.leg.ended({ code: 'normal' })
    await done
    expect(mixer().members.get(coach.audio)).toEqual({ canSpeak: true, audibleTo: [] })
  })

  it.each([
    ['both', 2],
    ['enter', 1],
    ['exit', 1],
    ['none', 0],
  ] as const)('beeps for a participant by its option: %s', async (beepOn, times) => {
    await join()
    await join({ beepOn: 'none' })
    const c = await join({ beepOn })
    c.participant?.leave()
    await settle()
    expect(mixer().played).toHaveLength(times)
  })

  it('is recorded from its start, and reports the recording', async () => {
    const reports: unknown[] = []
    const report = (recording: unknown) => reports.push(recording)
    const a = await join({ record: true, onRecording: report, onRecorded: report })
    expect(recordingStore.orders).toEqual([])
    const b = await join({ record: true })
    expect(recordingStore.orders).toMatchObject([
      { callId: a.call.id, projectId: 'p', request: { trim: true } },
    ])
    for (const { participant } of [a, b]) participant?.leave()
    await settle()
    const recording = { id: 'r-1', url: 'https://gw.example/r-1' }
    expect(reports).toEqual([
      recording,
      { ...recording, durationMs: expect.any(Number), bytes: expect.any(Number), reason: 'stopped' },
    ])
  })

  it('continues without a recording if the disk is full', async () => {
    recordingStore.refusal = new Error('disk full')
    const a = await join({ record: true })
    const b = await join()
    expect(inMixer(a, b)).toEqual([true, true])
    expect(fixture.lines).toMatchObject([{ msg: 'conference not recorded', reason: 'Error: disk full' }])
  })

  it('is left by a signal, and rejects with its reason', async () => {
    const giveUp = new AbortController()
    const a = await join({ signal: giveUp.signal })
    giveUp.abort(new Error('enough'))
    await settle()
    expect([a.result, conferences.count, a.audio.playing]).toMatchObject([
      { message: 'enough' },
      0,
      undefined,
    ])
  })

  it('plays the wait document to a waiting caller, and stops it at the start', async () => {
    let waiting: CallControl | undefined
    let runs = 0
    const wait = async (call: CallControl) => {
      runs++
      waiting = call
      await call.sleep(60_000)
      await new Promise<void>((_, reject) =>
        call.signal.addEventListener('abort', () => reject(new Error('over'))),
      )
    }
    const a = await join({ wait })
    expect([runs, a.audio.playing]).toEqual([1, undefined])
    const b = await join()
    expect(inMixer(a, b)).toEqual([true, true])
    await expect(waiting?.play({ sounds: [] })).rejects.toThrow('The call has ended.')
    expect(a.audio.playing).toBeUndefined()
  })

  it('plays music if the wait document fails', async () => {
    const a = await join({ wait: () => Promise.reject(new Error('404')) })
    expect(a.audio.playing).toBeDefined()
    expect(fixture.lines[0]).toMatchObject({ reason: 'Error: 404' })
    expect((await join({ wait: 'none', name: 'other' })).audio.playing).toBeUndefined()
  })

  it('continues with a leg that replaces the caller’s', async () => {
    const a = await join()
    await join()
    const by = fixture.caller()
    await by.leg.answer()
    expect(a.leg.replaced(by.leg)).toBe(true)
    expect([mixer().members.has(a.audio), mixer().members.has(by.audio)]).toEqual([false, true])
  })

  it.each(['', '  ', 'x'.repeat(129)])('rejects the name %j', async (name) => {
    expect((await join({ name })).result).toMatchObject({ code: 'bad_name' })
  })

  it('fails the verb without a mixer', async () => {
    conferences = new ProjectConferences({
      ...fixture,
      recordings: recordingStore,
      openMixer: () => Promise.reject(new Error('closed')),
    })
    expect((await join()).result).toMatchObject({ code: 'conference_failed' })
    expect(conferences.count).toBe(0)
  })

  it('opens anew for a caller who joins while the last participant leaves', async () => {
    const a = await join()
    a.participant?.leave()
    const b = await join()
    expect([a.result, conferences.count]).toMatchObject([{ kind: 'left' }, 1])
    expect(b.events[0]).toMatchObject({ sequence: 0, size: 1 })
  })
})
