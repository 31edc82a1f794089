import { describe, expect, it } from 'vitest'
import { recordingOf, sound } from '../testing/synthetic-call.ts'
import { scoreCall } from './call-scores.ts'

const silenceDb = -55

const score = (...of: Parameters<typeof recordingOf>) => scoreCall(recordingOf(...of), silenceDb)

describe('response', () => {
  it('measures the gap from the end of each turn to the voice of the agent', () => {
    const { turns } = score(
      8000,
      [
        { fromMs: 0, toMs: 800 },
        { fromMs: 2420, toMs: 3500 },
        { fromMs: 6050, toMs: 7000 },
      ],
      [sound(1000, 2000), sound(4000, 5000)],
    )
    expect(turns.map(({ gapMs, isEarly }) => ({ gapMs, isEarly }))).toEqual([
      { gapMs: 420, isEarly: false },
      { gapMs: 1050, isEarly: false },
    ])
  })

  it('has no gap for a turn that is not answered before the next one', () => {
    const { turns } = score(6000, [{ fromMs: 4300, toMs: 5000 }], [sound(1000, 2000), sound(3000, 4000)])
    expect(turns.map(({ gapMs }) => gapMs)).toEqual([undefined, 300])
  })

  it('counts an answer before the end of the turn as early, with a negative gap', () => {
    const { turns } = score(5000, [{ fromMs: 1700, toMs: 3000 }], [sound(1000, 2000)])
    expect(turns).toMatchObject([{ gapMs: -300, isEarly: true }])
  })

  it('takes the answer after a short early sound of the agent', () => {
    const parts = [
      { fromMs: 1300, toMs: 1500 },
      { fromMs: 2500, toMs: 3000 },
    ]
    expect(score(5000, parts, [sound(1000, 2000)]).turns).toMatchObject([{ gapMs: 500, isEarly: true }])
  })

  it('joins sounds of one turn: only the last one is answered', () => {
    const parts = [{ fromMs: 3350, toMs: 4000 }]
    const { turns } = score(5000, parts, [sound(1000, 1500, 'turn', 1), sound(2400, 3000, 'keys', 1)])
    expect(turns).toMatchObject([
      { text: 'turn at 1000 … keys at 2400', fromMs: 1000, toMs: 3000, gapMs: 350 },
    ])
  })

  it('does not take the voice that a turn has interrupted for its answer', () => {
    const parts = [
      { fromMs: 0, toMs: 1200 },
      { fromMs: 1450, toMs: 1600 },
      { fromMs: 2600, toMs: 3000 },
    ]
    expect(score(5000, parts, [sound(1000, 2000)]).turns).toMatchObject([{ gapMs: 600, isEarly: false }])
  })
})

describe('yield', () => {
  const interruption = sound(1000, 2000, 'interruption')

  it('measures the fade by 20 dB and the silence', () => {
    const parts = [
      { fromMs: 0, toMs: 1130 },
      { fromMs: 1130, toMs: 1400, quieterDb: 25 },
    ]
    expect(score(4000, parts, [interruption]).yields).toMatchObject([
      { fadeMs: 130, silenceMs: 400, hasYielded: true },
    ])
  })

  it('is none if the silence comes later than 2 s', () => {
    const parts = [{ fromMs: 0, toMs: 3100 }]
    expect(score(5000, parts, [interruption]).yields).toMatchObject([{ silenceMs: 2100, hasYielded: false }])
  })

  it('takes no pause between words for silence', () => {
    const parts = [
      { fromMs: 0, toMs: 1100 },
      { fromMs: 1400, toMs: 5000 },
    ]
    const [found] = score(5000, parts, [interruption]).yields
    // The recording ends with the voice: the silence is that of its end.
    expect(found).toMatchObject({ fadeMs: 100, silenceMs: 4000, hasYielded: false })
  })

  it('has no score if the agent did not speak', () => {
    const scores = score(4000, [{ fromMs: 0, toMs: 200 }], [interruption])
    expect(scores.yields).toEqual([])
    expect(scores.unscored).toBe(1)
    expect(scores.turns).toHaveLength(1)
  })
})

describe('selectivity', () => {
  const cough = sound(1000, 1250, 'cough')

  it('has no delay for a voice that goes on', () => {
    const { keeps, turns } = score(4000, [{ fromMs: 0, toMs: 3500 }], [cough])
    expect(keeps).toMatchObject([{ kind: 'cough', resumeMs: 0, hasKept: true }])
    expect(turns).toEqual([])
  })

  it('measures the time from the end of the sound to the voice', () => {
    const parts = [
      { fromMs: 0, toMs: 1100 },
      { fromMs: 1490, toMs: 3000 },
    ]
    const uhHuh = sound(1000, 1250, 'acknowledgement')
    expect(score(4000, parts, [uhHuh]).keeps).toMatchObject([
      { kind: 'acknowledgement', resumeMs: 240, hasKept: true },
    ])
  })

  it('has no delay for a voice that is back before the end of the sound', () => {
    const parts = [
      { fromMs: 0, toMs: 1050 },
      { fromMs: 1230, toMs: 3000 },
    ]
    expect(score(4000, parts, [cough]).keeps).toMatchObject([{ resumeMs: 0, hasKept: true }])
  })

  it('is lost if the agent falls silent, or speaks after more than 2 s', () => {
    expect(score(4000, [{ fromMs: 0, toMs: 1100 }], [cough]).keeps).toEqual([
      { kind: 'cough', text: 'cough at 1000', fromMs: 1000, toMs: 1250, hasKept: false },
    ])
    const parts = [
      { fromMs: 0, toMs: 1100 },
      { fromMs: 3300, toMs: 4000 },
    ]
    expect(score(5000, parts, [cough]).keeps).toMatchObject([{ resumeMs: 2050, hasKept: false }])
  })
})

describe('echo', () => {
  const parts = [
    { fromMs: 0, toMs: 2000 },
    { fromMs: 3000, toMs: 4000 },
  ]
  const echoes = [{ fromMs: 500, toMs: 5000 }]

  it('counts pauses of the agent that the caller did not cause', () => {
    expect(score(5000, parts, [], echoes).echo).toEqual({ spokenMs: 2500, stops: 1 })
    expect(score(5000, parts, []).echo).toEqual({ spokenMs: 0, stops: 0 })
  })

  it('counts no pause in which the caller speaks, or which is as long as one between turns', () => {
    expect(score(5000, parts, [sound(2200, 2500)], echoes).echo.stops).toBe(0)
    const late = [
      { fromMs: 0, toMs: 1000 },
      { fromMs: 3100, toMs: 4000 },
    ]
    expect(score(5000, late, [], echoes).echo.stops).toBe(0)
  })
})

it('measures overlap, silence, the longest gap, the level and the spans of the agent', () => {
  const parts = [
    { fromMs: 500, toMs: 1500 },
    { fromMs: 2300, toMs: 3000 },
    { fromMs: 5000, toMs: 6000 },
  ]
  const scores = score(7000, parts, [sound(1300, 1800)])
  expect(scores).toMatchObject({ ms: 7000, overlapMs: 200, longestGapMs: 2000, silenceMs: 4000 })
  expect(scores.levelDb).toBeCloseTo(-20, 0)
  expect(scores.agentSpans).toEqual([
    { fromMs: 500, toMs: 3000 },
    { fromMs: 5000, toMs: 6000 },
  ])
})

it('has no level, and one long gap, for a call without sound', () => {
  expect(score(3000, [], [])).toMatchObject({ longestGapMs: 3000, silenceMs: 3000, agentSpans: [] })
  expect(score(3000, [], []).levelDb).toBeUndefined()
})

it('counts quiet music of the agent as silence below the level of the scenario', () => {
  const parts = [
    { fromMs: 0, toMs: 5000, quieterDb: 28 },
    { fromMs: 2300, toMs: 3000 },
  ]
  const recording = recordingOf(5000, parts, [sound(1000, 2000)])
  expect(scoreCall(recording, -45).turns).toMatchObject([{ gapMs: 300 }])
  expect(scoreCall(recording, silenceDb).turns[0]?.gapMs).toBeUndefined()
})
