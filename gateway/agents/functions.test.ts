import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { AgentFunctionCall, AgentFunctionResult } from '../../handlers/verbs.ts'
import { FakeClock } from '../core/clock.ts'
import type { EngineCall } from './engine.ts'
import { type FunctionAnswer, type FunctionEvent, FunctionRunner } from './functions.ts'

interface Run {
  readonly call: AgentFunctionCall
  readonly signal: AbortSignal
  resolve(result: AgentFunctionResult): void
  reject(cause: Error): void
}

class Rig {
  readonly clock = new FakeClock()
  readonly runs: Run[] = []
  readonly answers: (FunctionAnswer & { readonly call: EngineCall })[] = []
  readonly events: FunctionEvent[] = []
  readonly began: string[] = []
  readonly ended: [string, boolean][] = []
  readonly afters: string[] = []
  canInterrupt = true
  filler: Promise<void> | undefined
  readonly runner = new FunctionRunner(
    {
      run: (call, signal) =>
        new Promise((resolve, reject) => this.runs.push({ call, signal, resolve, reject })),
      isKnown: (name) => name !== 'nothing',
      timeoutMs: 10_000,
      canInterrupt: () => this.canInterrupt,
    },
    {
      answer: (call, answer) => this.answers.push({ call, ...answer }),
      report: (event) => this.events.push(event),
      began: (id) => this.began.push(id),
      ended: (id, isAnswered) => this.ended.push([id, isAnswered]),
      beforeStart: () => this.filler,
    },
    this.clock,
  )

  call(id: string, answer = 'a1', name = 'f', args = '{}'): void {
    this.runner.call(answer, { id, name, args })
  }

  result(text: string, more: Partial<AgentFunctionResult> = {}): AgentFunctionResult {
    return {
      text,
      after: async () => {
        this.afters.push(text)
      },
      ...more,
    }
  }

  get outcomes(): string[] {
    return this.events.map(({ outcome }) => outcome)
  }
}

const settled = async (): Promise<void> => {
  for (let i = 0; i < 6; i++) await Promise.resolve()
}

describe('function runner', () => {
  it('runs a call once, answers it, and reports it', async () => {
    const rig = new Rig()
    rig.call('c1', 'a1', 'f', '{broken')
    rig.call('c1', 'a1', 'f', '{broken')
    expect(rig.runs.map(({ call }) => call)).toEqual([{ id: 'c1', name: 'f', args: '{broken' }])
    rig.clock.advance(120)
    rig.runs[0]!.resolve({ text: 'sunny', kept: 'weather' })
    await settled()
    expect(rig.answers).toEqual([
      { call: { id: 'c1', name: 'f', args: '{broken' }, text: 'sunny', kept: 'weather', respond: true },
    ])
    expect(rig.events[0]).toMatchObject({ result: 'sunny', durationMs: 120, outcome: 'finished' })
    expect(rig.ended).toEqual([['c1', true]])
    expect(rig.clock.running).toBe(0)
  })

  it('lets the model go on after the last call of an answer', async () => {
    const rig = new Rig()
    rig.call('c1')
    rig.call('c2')
    rig.runs[1]!.resolve({ text: 'two' })
    await settled()
    rig.runs[0]!.resolve({ text: 'one', respond: false })
    await settled()
    expect(rig.answers.map(({ text, respond }) => [text, respond])).toEqual([
      ['two', false],
      ['one', true],
    ])
  })

  it('answers time-outs, failures and unknown functions', async () => {
    const rig = new Rig()
    rig.call('c1', 'a1')
    rig.clock.advance(10_000)
    expect(rig.runs[0]!.signal.aborted).toBe(true)
    rig.runs[0]!.resolve(rig.result('late'))
    rig.call('c2', 'a2')
    rig.runs[1]!.reject(new Error('defect'))
    rig.call('c3', 'a3', 'nothing')
    await settled()
    expect(rig.outcomes).toEqual(['timeout', 'unknown', 'failed'])
    expect(rig.answers.map(({ respond }) => respond)).toEqual([true, true, true])
    rig.runner.close()
    expect(rig.afters).toEqual([])
  })

  it('cancels at an interruption, unless functions are protected', async () => {
    const rig = new Rig()
    rig.call('c1')
    rig.runner.interrupted()
    expect(rig.outcomes).toEqual(['canceled'])
    expect(rig.answers[0]).toMatchObject({ respond: false })
    rig.canInterrupt = false
    rig.call('c2', 'a2')
    rig.runner.interrupted()
    rig.runs[1]!.resolve({ text: 'done' })
    await settled()
    expect(rig.answers[1]).toMatchObject({ text: 'done', respond: true })
  })

  it('gives no answer to calls that the engine cancelled', async () => {
    const rig = new Rig()
    rig.call('c1')
    rig.runner.cancelled(['c1', 'unknown'])
    rig.runs[0]!.resolve({ text: 'late' })
    await settled()
    expect(rig.answers).toEqual([])
    expect(rig.outcomes).toEqual(['canceled'])
    expect(rig.ended).toEqual([['c1', false]])
  })

  it('runs what follows after the next answer was heard', async () => {
    const rig = new Rig()
    rig.runner.answerBegan('a1')
    rig.call('c1')
    rig.runs[0]!.resolve(rig.result('transfer'))
    await settled()
    rig.runner.answerEnded('a1')
    rig.runner.answerBegan('a2')
    expect(rig.afters).toEqual([])
    rig.runner.answerEnded('a2')
    rig.runner.answerEnded('a2')
    rig.runner.close()
    expect(rig.afters).toEqual(['transfer'])
  })

  it('runs what follows at once without an answer, after an interruption, and after 15 s', async () => {
    const rig = new Rig()
    rig.call('c1', 'a1')
    rig.runs[0]!.resolve(rig.result('silent', { respond: false }))
    await settled()
    expect(rig.afters).toEqual(['silent'])
    rig.call('c2', 'a2')
    rig.runs[1]!.resolve(rig.result('interrupted'))
    await settled()
    rig.runner.interrupted()
    expect(rig.afters).toEqual(['silent', 'interrupted'])
    rig.call('c3', 'a3')
    rig.runs[2]!.resolve(rig.result('bounded'))
    await settled()
    rig.clock.advance(15_000)
    expect(rig.afters).toEqual(['silent', 'interrupted', 'bounded'])
  })

  it('runs calls whose engine counts ids anew, with ids of their own', () => {
    const rig = new Rig()
    rig.call('call_0', 'a1', 'f', '{"n":1}')
    rig.runner.cancelled(['call_0'])
    rig.call('call_0', 'a2', 'f', '{"n":1}')
    rig.runner.engineChanged()
    rig.call('call_0', 'a1', 'f', '{"n":2}')
    expect(rig.runs.map(({ call }) => call.id)).toEqual(['call_0', 'call_0-2', 'call_0-3'])
  })

  it('waits for the filler, for 10 s at most', async () => {
    const rig = new Rig()
    let heard = () => {}
    rig.filler = new Promise((resolve) => {
      heard = resolve
    })
    rig.call('c1')
    expect(rig.runs.length).toBe(0)
    heard()
    await settled()
    rig.filler = new Promise(() => {})
    rig.call('c2')
    rig.clock.advance(10_000)
    expect(rig.runs.map(({ call }) => call.id)).toEqual(['c1', 'c2'])
  })

  it('stops a loop of functions until the next turn', async () => {
    const rig = new Rig()
    for (let i = 0; i < 25; i++) {
      rig.call(`c${i}`, `a${i}`)
      rig.runs[i]?.resolve({ text: 'again' })
      await settled()
    }
    expect(rig.runs.length).toBe(20)
    expect(rig.answers.slice(19).map(({ respond }) => respond)).toEqual([
      true,
      true,
      true,
      true,
      false,
      false,
    ])
    rig.runner.turn()
    rig.call('next', 'next')
    expect(rig.runs.length).toBe(21)
  })
})

type Move =
  | { readonly kind: 'call'; readonly answer: number; readonly id: number }
  | { readonly kind: 'result' | 'reject' | 'cancel'; readonly which: number; readonly respond: boolean }
  | { readonly kind: 'wait'; readonly ms: number }
  | { readonly kind: 'interrupt' | 'change' | 'turn' | 'answer' | 'protect' | 'hangup' }

const moves: fc.Arbitrary<Move> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('call'), answer: fc.nat(3), id: fc.nat(3) }) },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constantFrom('result', 'reject', 'cancel'),
      which: fc.nat(8),
      respond: fc.boolean(),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('wait'), ms: fc.constantFrom(1, 4000, 10_000) }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constantFrom('interrupt', 'change', 'turn', 'answer', 'protect', 'hangup'),
    }),
  },
) as fc.Arbitrary<Move>

/** Carries out one move; returns the number of the engine's session afterwards. */
const carryOut = (rig: Rig, move: Move, step: number, session: number): number => {
  const run = 'which' in move ? rig.runs[move.which] : undefined
  if (move.kind === 'call') {
    const args = `${session}/${move.answer}/${move.id}`
    rig.runner.call(`a${move.answer}`, { id: `c${move.id}`, name: move.id === 3 ? 'nothing' : 'f', args })
  } else if (move.kind === 'result' && 'respond' in move)
    run?.resolve(rig.result(run.call.id, { respond: move.respond }))
  else if (move.kind === 'reject') run?.reject(new Error('defect'))
  else if (move.kind === 'cancel' && 'which' in move) rig.runner.cancelled([`c${move.which}`])
  else if (move.kind === 'wait') rig.clock.advance(move.ms)
  else if (move.kind === 'interrupt') rig.runner.interrupted()
  else if (move.kind === 'turn') rig.runner.turn()
  else if (move.kind === 'protect') rig.canInterrupt = !rig.canInterrupt
  else if (move.kind === 'hangup') rig.runner.close()
  else if (move.kind === 'answer') {
    rig.runner.answerBegan(`next${step}`)
    rig.runner.answerEnded(`next${step}`)
  } else if (move.kind === 'change') {
    rig.runner.engineChanged()
    return session + 1
  }
  return session
}

const timesOf = (values: readonly string[]): number[] => {
  const counts = new Map<string, number>()
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1)
  return [...counts.values()]
}

describe('function runner, in 10,000 schedules', () => {
  it('runs each call at most once, answers it once, and runs what follows at most once', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(moves, { maxLength: 25 }), async (schedule) => {
        const rig = new Rig()
        let session = 0
        for (const [step, move] of schedule.entries()) {
          session = carryOut(rig, move, step, session)
          if (step % 2) await settled()
        }
        await settled()
        rig.runner.close()
        await settled()
        // Arguments name the engine's session, answer and id: each is wanted once.
        for (const count of timesOf(rig.runs.map(({ call }) => call.args))) expect(count).toBe(1)
        for (const count of timesOf(rig.answers.map(({ call }) => call.args))) expect(count).toBe(1)
        for (const count of timesOf(rig.afters)) expect(count).toBe(1)
        expect(rig.events.map(({ call }) => call.id).sort()).toEqual([...rig.began].sort())
        expect(rig.ended.map(([id]) => id).sort()).toEqual([...rig.began].sort())
        const canceled = rig.events.length - rig.answers.length
        const cancels = schedule.filter(({ kind }) => kind === 'cancel').length
        // Each of the four answers of each session can have a call of that id.
        expect(canceled).toBeLessThanOrEqual(cancels * 4 * (session + 1))
        expect(rig.runner.running).toBe(0)
        expect(rig.clock.running).toBe(0)
      }),
      { numRuns: 10_000 },
    )
  }, 30_000)
})
