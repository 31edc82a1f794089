import { pino } from 'pino'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { CallEnded, type DetectOptions, type DetectResult, type Finding } from '../../../handlers/verbs.ts'
import { FakeClock } from '../../core/clock.ts'
import { Metrics } from '../../core/metrics.ts'
import { Call } from '../call/call.ts'
import { infoOf } from '../call/call-info.ts'
import { newCallId } from '../call/ids.ts'
import { settle } from '../testing/calls-fixture.ts'
import { fakeLeg } from '../testing/fake-legs.ts'
import { CallDetector } from './call-detector.ts'

let clock: FakeClock
let metrics: Metrics

beforeEach(() => {
  clock = new FakeClock()
  metrics = new Metrics()
})

/** Starts a call with a detector on the audio of its caller. */
const detecting = async (options: DetectOptions) => {
  const callId = newCallId()
  const made = fakeLeg(clock, callId)
  const log = pino({ level: 'silent' })
  const call = new Call({
    info: infoOf({ leg: made.leg, callId, projectId: 'p', headers: [] }),
    caller: made.leg,
    clock,
    log,
    maxDurationMs: 14_400_000,
  })
  const errors = vi.spyOn(log, 'error')
  const detector = new CallDetector({ clock, log, metrics })
  const findings: Finding[] = []
  const came: { result?: DetectResult; error?: unknown } = {}
  detector.detect(call, { onFinding: (finding) => findings.push(finding), ...options }).then(
    (result) => {
      came.result = result
    },
    (error) => {
      came.error = error
    },
  )
  await settle()
  return { ...made, call, detector, came, findings, errors, detection: made.port.detections[0] }
}

const counted = async () =>
  (await metrics.detections.get()).values.map(({ labels, value }) => [labels.result, value])

describe('detect', () => {
  it('answers, and starts the requested detection with the defaults of the verb', async () => {
    const { leg, detection } = await detecting({ machine: {}, fax: 'CNG', digits: '12' })
    expect(leg.isAnswered).toBe(true)
    expect(detection?.request).toEqual({
      machine: {
        initialTimeoutMs: 4500,
        endSilenceMs: 1000,
        readyTimeoutMs: 1000,
        voiceThresholdMs: 1250,
        wordsThreshold: 6,
        waitForEnd: false,
      },
      fax: 'CNG',
      digits: '12',
    })
    const given = {
      initialTimeoutMs: 1,
      endSilenceMs: 2,
      voiceThresholdMs: 3,
      wordsThreshold: 4,
      waitForEnd: true,
    }
    const second = await detecting({ machine: given })
    expect(second.detection?.request).toEqual({ machine: { ...given, readyTimeoutMs: 2 } })
  })

  it.each<[Finding, object]>([
    [{ kind: 'machine' }, { kind: 'machine' }],
    [{ kind: 'human' }, { kind: 'human' }],
    [{ kind: 'unknown' }, { kind: 'unknown' }],
    [
      { kind: 'fax', tone: 'CED' },
      { kind: 'fax', tone: 'CED' },
    ],
    [
      { kind: 'digit', digit: '4' },
      { kind: 'digit', digit: '4' },
    ],
  ])('ends with %o', async (finding, result) => {
    const { detection, came, findings } = await detecting({ machine: {}, fax: 'CED', digits: '4' })
    clock.advance(1700)
    detection?.find(finding)
    detection?.end()
    await settle()
    expect(came.result).toEqual({ ...result, durationMs: 1700 })
    expect(findings).toEqual([finding])
    expect(await counted()).toEqual([[finding.kind, 1]])
  })

  it('waits for the end of a greeting if requested, and reports all findings in order', async () => {
    const { detection, came, findings } = await detecting({ machine: { waitForEnd: true } })
    const all: Finding[] = [
      { kind: 'machine' },
      { kind: 'ready', beep: false },
      { kind: 'notReady' },
      { kind: 'ready', beep: true },
    ]
    for (const finding of all) detection?.find(finding)
    await settle()
    expect([came.result, findings]).toEqual([undefined, all])
    detection?.end()
    await settle()
    expect(came.result).toEqual({ kind: 'machine', beep: true, durationMs: 0 })
  })

  it.each<[readonly Finding[], object]>([
    [[], { kind: 'none' }],
    [[{ kind: 'machine' }], { kind: 'machine', beep: false }],
    [[{ kind: 'machine' }, { kind: 'ready', beep: false }], { kind: 'machine', beep: false }],
    [
      [{ kind: 'machine' }, { kind: 'ready', beep: false }, { kind: 'notReady' }],
      { kind: 'machine', beep: false },
    ],
  ])('returns the last finding at the end of the time: %o', async (findings, result) => {
    const { detection, came, leg } = await detecting({ machine: { waitForEnd: true }, timeoutMs: 8000 })
    for (const finding of findings) detection?.find(finding)
    clock.advance(7999)
    await settle()
    expect([came.result, detection?.closed]).toEqual([undefined, false])
    clock.advance(1)
    await settle()
    expect(came.result).toEqual({ ...result, durationMs: 8000 })
    expect([detection?.closed, leg.isEnded]).toEqual([true, false])
  })

  it('lasts 30 s by default', async () => {
    const { came } = await detecting({ fax: 'CED' })
    clock.advance(29_999)
    await settle()
    expect(came.result).toBeUndefined()
    clock.advance(1)
    await settle()
    expect(came.result).toEqual({ kind: 'none', durationMs: 30_000 })
  })

  it('accepts digits of messages, and counts one that is also audible once', async () => {
    const { leg, came, findings, detection } = await detecting({ digits: '12' })
    leg.digit('5')
    await settle()
    expect([came.result, findings]).toEqual([undefined, []])
    leg.digit('2')
    detection?.find({ kind: 'digit', digit: '2' })
    leg.digit('1')
    await settle()
    expect(came.result).toEqual({ kind: 'digit', digit: '2', durationMs: 0 })
    expect([findings, detection?.closed]).toEqual([[{ kind: 'digit', digit: '2' }], true])
    leg.digit('1')
    expect(findings.length).toBe(1)
  })

  it('is canceled by its signal, and the call goes on', async () => {
    const abort = new AbortController()
    const { came, detection, leg } = await detecting({ machine: {}, signal: abort.signal })
    abort.abort(new Error('enough'))
    await settle()
    expect(came.error).toEqual(new Error('enough'))
    expect([detection?.closed, leg.isEnded, await counted()]).toEqual([true, false, []])
  })

  it('ends with the call, and leaves no timer', async () => {
    const { came, detection, leg } = await detecting({ machine: {} })
    leg.ended({ code: 'normal' })
    await settle()
    expect(came.error).toBeInstanceOf(CallEnded)
    expect([detection?.closed, clock.running]).toEqual([true, 0])
  })

  it('is rejected without a target, and does not answer', async () => {
    const { came, leg, port } = await detecting({ digits: '' })
    expect(came.error).toMatchObject({ code: 'bad_request', message: 'There is nothing to detect.' })
    expect([leg.isAnswered, port.detections]).toEqual([false, []])
  })

  it('runs at most four times at once in a call', async () => {
    const { call, detector, port, came } = await detecting({ fax: 'CED' })
    const others = [1, 2, 3].map(() => detector.detect(call, { fax: 'CNG' }))
    await expect(detector.detect(call, { fax: 'CED' })).rejects.toMatchObject({ code: 'too_many_detections' })
    await settle()
    expect(port.detections.length).toBe(4)
    port.detections[0]?.end()
    await settle()
    expect(came.result?.kind).toBe('none')
    others.push(detector.detect(call, { fax: 'CED' }))
    await settle()
    for (const detection of port.detections) detection.end()
    expect((await Promise.all(others)).map(({ kind }) => kind)).toEqual(['none', 'none', 'none', 'none'])
  })

  it('goes on when the listener fails', async () => {
    const onFinding = () => {
      throw new Error('defect')
    }
    const { came, detection, errors } = await detecting({ machine: {}, onFinding })
    detection?.find({ kind: 'human' })
    detection?.end()
    await settle()
    expect(came.result).toMatchObject({ kind: 'human' })
    expect(errors).toHaveBeenCalledOnce()
  })
})
