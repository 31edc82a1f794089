import { beforeEach, describe, expect, it } from 'vitest'
import { AgentVoice } from '../line/line-audio.ts'
import type { LineChange, Speech, Step } from '../scenario/scenario.ts'
import { markedNoise } from '../testing/marked-noise.ts'
import { perform } from './perform.ts'

const voiced = markedNoise(20)
const withinMs = 15_000

/** Line whose time passes only by its frames; the agent speaks in given spans. */
class FakeLine {
  ms = 0
  isEnded = false
  hasKeys = true
  readonly voice = new AgentVoice(-55)
  readonly changes: LineChange[] = []
  readonly said: string[] = []
  /** Spans in which the agent speaks, in ms. Further ones may be added by a sound of the caller. */
  readonly agent: [number, number][] = []
  endsAtMs = Number.POSITIVE_INFINITY
  /** Delay and length of an answer to every sound; undefined: none. */
  answer: { readonly afterMs: number; readonly ms: number } | undefined

  async frame(): Promise<void> {
    this.ms += 20
    if (this.agent.some(([from, to]) => this.ms > from && this.ms <= to)) this.voice.hear(this.ms, voiced)
    if (this.ms >= this.endsAtMs) this.isEnded = true
  }

  async say(samples: Int16Array) {
    return this.#made(samples.length / 8)
  }

  async press(digits: string) {
    return this.#made(200 * digits.length)
  }

  change(change: LineChange): void {
    this.changes.push(change)
  }

  async #made(ms: number) {
    const fromMs = this.ms
    while (this.ms < fromMs + ms && !this.isEnded) await this.frame()
    if (this.answer)
      this.agent.push([this.ms + this.answer.afterMs, this.ms + this.answer.afterMs + this.answer.ms])
    return { fromMs, toMs: this.ms }
  }
}

let line: FakeLine
const prompts: string[] = []

beforeEach(() => {
  line = new FakeLine()
  prompts.length = 0
})

/** Speech of 400 ms with 100 ms of silence before and after it. */
const samplesOf = ({ text }: Speech): Int16Array => {
  line.said.push(text)
  const samples = new Int16Array(4800)
  samples.set(markedNoise(400), 800)
  return samples
}

const run = (...steps: Step[]) =>
  perform(steps, {
    line,
    samplesOf,
    prompt: async (text) => {
      const wasUnused = prompts.length > 0 && !prompts.at(-1)!.startsWith('used')
      prompts.push(text)
      return wasUnused
    },
  })

const say = (text: string): Step => ({ kind: 'say', speech: { text } })
const waitFor = (what: 'agent' | 'end', ms = withinMs): Step => ({ kind: 'wait', for: what, withinMs: ms })

describe('turns', () => {
  it('speak after the greeting, and have the place of the voice alone', async () => {
    line.agent.push([500, 2500])
    line.answer = { afterMs: 400, ms: 1000 }
    const { sounds, problems } = await run(waitFor('agent'), say('Hello.'), waitFor('agent'))
    expect(problems).toEqual([])
    expect(sounds).toEqual([{ kind: 'turn', text: 'Hello.', fromMs: 3600, toMs: 4000, turn: 1 }])
    // The answer begins 400 ms after the sound with its silence, and lasts 1 s.
    expect(line.ms).toBe(4100 + 400 + 1000 + 1000)
  })

  it('are the same turn with a pause between, and another one after a wait', async () => {
    line.answer = { afterMs: 2000, ms: 500 }
    const { sounds } = await run(
      say('My number is'),
      { kind: 'pause', ms: 800 },
      say('one two.'),
      waitFor('agent'),
      { kind: 'keys', digits: '12' },
    )
    expect(sounds.map(({ kind, turn }) => [kind, turn])).toEqual([
      ['turn', 1],
      ['turn', 1],
      ['keys', 2],
    ])
    expect(prompts).toEqual(['My number is', 'one two.', 'My number is one two.'])
  })

  it('prompt only the new words if a turn took those before', async () => {
    await run(say('used before.'), say('And more.'))
    expect(prompts).toEqual(['used before.', 'And more.'])
  })
})

describe('sounds over the agent', () => {
  it('come after it has spoken for a while', async () => {
    line.agent.push([1000, 20_000])
    const { sounds, problems } = await run(
      { kind: 'over', speech: { text: 'Mm-hmm' }, afterMs: 1000, withinMs },
      { kind: 'cough', ms: 200, afterMs: 1000, withinMs },
      { kind: 'interrupt', speech: { text: 'Stop.' }, afterMs: 5000, withinMs },
    )
    expect(problems).toEqual([])
    expect(sounds.map(({ kind, fromMs }) => [kind, fromMs])).toEqual([
      ['acknowledgement', 2120],
      ['cough', 2620],
      ['interruption', 6120],
    ])
    expect(prompts).toEqual(['Mm-hmm', '', 'Stop.'])
  })

  it('are made late, with a problem, if the agent does not speak', async () => {
    const { sounds, problems } = await run({
      kind: 'interrupt',
      speech: { text: 'Stop.' },
      afterMs: 1000,
      withinMs: 2000,
    })
    expect(sounds).toMatchObject([{ kind: 'interruption', fromMs: 2100 }])
    expect(problems).toEqual(['Step 1: the agent did not speak for 1000 ms.'])
  })
})

describe('waits', () => {
  it('report an agent that does not speak, does not finish, or does not hang up', async () => {
    line.agent.push([3000, 60_000])
    const { problems } = await run(waitFor('agent', 1000), waitFor('agent', 5000), waitFor('end', 500))
    expect(problems).toEqual([
      'Step 1: the agent did not speak within 1 s.',
      'Step 2: the agent did not finish speaking within 5 s.',
      'Step 3: the agent did not hang up within 0.5 s.',
    ])
  })

  it('for the end are over when the agent hangs up', async () => {
    line.endsAtMs = 4000
    expect((await run(waitFor('end'))).problems).toEqual([])
    expect(line.ms).toBe(4000)
  })
})

it('ends with the call: words that are left are a problem, waits are none', async () => {
  line.endsAtMs = 1000
  const pause: Step = { kind: 'pause', ms: 5000 }
  expect((await run(pause, say('Hello.'))).problems).toEqual(['Step 2: the call had ended before.'])
  line = new FakeLine()
  line.endsAtMs = 1000
  expect((await run(pause, waitFor('end'))).problems).toEqual([])
})

it('changes the line, and hangs up at once', async () => {
  const change: Step = { kind: 'noise', noise: { type: 'street', db: -40 } }
  const { sounds } = await run(change, { kind: 'hangup' }, say('Too late.'))
  expect(line.changes).toEqual([change])
  expect(sounds).toEqual([])
})

it('reports keys that the other side does not take', async () => {
  line.hasKeys = false
  const { sounds, problems } = await run({ kind: 'keys', digits: '1' })
  expect(sounds).toEqual([])
  expect(problems).toEqual(["Step 1: the agent's side takes no keys (telephone-event)."])
})
