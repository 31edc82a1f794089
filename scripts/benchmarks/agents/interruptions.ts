import { markedNoise } from '../../../gateway/agent-test/testing/marked-noise.ts'
import { isJsonObject } from '../../../gateway/core/json.ts'
import { printCount, printFigure } from '../rooms/figures.ts'
import type { TracedEvent } from './engine-trace.ts'
import { heardMs, lastLoud, levelWithin, quieterAt, silentDb } from './readings.ts'
import { hears, onStage, pause, type Stage } from './stage.ts'
import type { TalkingLine } from './talking-line.ts'

/** Length of an answer in ms; each is interrupted. */
const answerMs = 6000
const turnsPerCall = 8
/** Time after the decision in which its last packets may still arrive, in ms. */
const settleMs = 60

/** Times of one interruption in ms. */
interface Interruption {
  /** From the caller's first packet to the agent's level 20 dB lower. */
  readonly reflex: number
  /** From the decision of the engine or recogniser to the last packet with sound. */
  readonly silence: number
  /** Packets of the old answer after that. */
  readonly stale: number
  /** Difference between the position that the engine got and the one received; absent for pipelines. */
  readonly position?: number
}

const answer = markedNoise(answerMs)

const endMsOf = ({ content }: TracedEvent): number =>
  isJsonObject(content) ? Number(content.audio_end_ms) : Number.NaN

/** Interrupts the answer that is being heard; undefined if it went on. */
const interrupt = async (
  { trace, standIns }: Stage,
  line: TalkingLine,
  speech: Int16Array,
  begun: number,
): Promise<Interruption | undefined> => {
  await pause(500 + 900 * Math.random())
  trace.clear()
  standIns.willHear('Please stop that now')
  const said = await line.say(speech)
  const level = levelWithin(line.packets, said.beganAt - 200, said.beganAt)
  await pause(100)
  const decided = [
    ...trace.all('sent', 'input_audio_buffer.speech_started'),
    ...trace.all('sent', 'partial'),
  ][0]
  const fadedAt = quieterAt(line.packets, said.beganAt, level - 20)
  const packets = line.packets.filter(({ at }) => at >= begun)
  const last = lastLoud(packets, said.endedAt + 100)
  if (!decided || fadedAt === undefined || !last || last.at > said.endedAt) return undefined
  const [truncated] = trace.all('received', 'conversation.item.truncate')
  return {
    reflex: fadedAt - said.beganAt,
    silence: Math.max(0, last.at - decided.at),
    stale: packets.filter(({ at, db }) => at > decided.at + settleMs && db > silentDb).length,
    ...(truncated && { position: endMsOf(truncated) - heardMs(packets, answer) }),
  }
}

const take = async (stage: Stage, name: string, turns: number): Promise<readonly Interruption[]> => {
  const first = await stage.speech('Hello')
  const second = await stage.speech('Please stop that now')
  const found: Interruption[] = []
  for (let taken = 0; taken < turns; ) {
    const line = await stage.dial(name)
    await pause(100)
    stage.standIns.willHear('Hello')
    let { endedAt } = await line.say(first)
    for (let i = 0; i < turnsPerCall && taken < turns; i++, taken++) {
      const begin = await hears(line, endedAt)
      const measured = begin && (await interrupt(stage, line, second, begin.at))
      if (measured) found.push(measured)
      endedAt = performance.now()
      line.forget()
      if (!measured) break
    }
    await line.hangUp()
  }
  return found
}

const print = (what: string, found: readonly Interruption[], turns: number): void => {
  printFigure(
    `G6 voice to the agent 20 dB down, ${what}`,
    found.map(({ reflex }) => reflex),
    { p95: 160 },
  )
  printFigure(
    `G7 decision to silence, ${what}`,
    found.map(({ silence }) => silence),
    { p95: 40 },
  )
  const stale = found.reduce((sum, each) => sum + each.stale, 0)
  printCount('G7 packets of old speech after it', stale, 'packets', 0)
  const positions = found.flatMap(({ position }) => (position === undefined ? [] : [Math.abs(position)]))
  if (positions.length > 0) printFigure('G9 positions of engine and receiver apart', positions, { max: 20 })
  printCount('Interruptions that were missed', turns - found.length, `of ${turns}`, 0)
}

/** Measures goals G6, G7 and G9: answers that a caller interrupts. */
export const interruptions = (turns = 40): Promise<void> =>
  onStage(
    {
      rules: [
        { when: { engine: 'speech' }, do: [{ wav: 'answer.wav' }] },
        { when: { engine: 'chat' }, do: [{ say: 'This is a very long answer.' }] },
        {
          when: { engine: 'realtime' },
          do: [{ wav: { file: 'answer.wav', text: 'This is a long answer.' } }],
        },
      ],
      sounds: { 'answer.wav': answer },
      agents: { whole: { engine: 'whole' }, spoken: { engine: 'spoken' } },
    },
    async (stage) => {
      print('real time', await take(stage, 'whole', turns), turns)
      print('pipeline', await take(stage, 'spoken', turns), turns)
    },
  )
