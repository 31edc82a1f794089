import { markedNoise } from '../../../gateway/agent-test/testing/marked-noise.ts'
import { printCount, printFigure } from '../rooms/figures.ts'
import { longestGap } from './readings.ts'
import { hears, isQuiet, onStage, pause, type Stage, type StageEngine } from './stage.ts'

/** Talks for a number of turns in one call. Returns the times from the caller's end to the answer in ms. */
const talk = async (stage: Stage, engine: StageEngine, turns: number): Promise<readonly number[]> => {
  const speech = await stage.speech('Hello')
  const line = await stage.dial(engine)
  const answers: number[] = []
  for (let i = 0; i < turns; i++) {
    await pause(300 * Math.random())
    const said = await line.say(speech)
    const answer = await hears(line, said.endedAt, 3000)
    await isQuiet(line)
    if (answer) answers.push(answer.at - said.endedAt)
  }
  printFigure('G13 longest gap between packets', [longestGap(line.packets)], { max: 400 })
  printCount('Turns without an answer', turns - answers.length, `of ${turns}`, 0)
  await line.hangUp()
  return answers
}

/** Number of messages that each session of the engine got, without those that it made itself. */
const messagesOf = ({ trace }: Stage): readonly number[] => {
  const sessions = new Map(trace.all('opened', 'open').map(({ connection }) => [connection, 0]))
  for (const { connection } of trace.all('received', 'conversation.item.create'))
    sessions.set(connection, (sessions.get(connection) ?? 0) + 1)
  return [...sessions.values()]
}

/** Measures goal G13: a conversation whose sessions end all the time, beside one of a single session. */
export const rotations = (turns = 30): Promise<void> =>
  onStage(
    {
      rules: [{ when: 'any', do: [{ wav: { file: 'answer.wav', text: 'Yes.' } }] }],
      sounds: { 'answer.wav': markedNoise(400) },
      agents: { whole: { engine: 'whole' }, brief: { engine: 'brief' } },
    },
    async (stage) => {
      printFigure('Response with one session', await talk(stage, 'whole', turns))
      stage.trace.clear()
      printFigure('Response with new sessions', await talk(stage, 'brief', turns))
      const messages = messagesOf(stage)
      console.log(`${messages.length} sessions; messages of the history in each: ${messages.join(', ')}`)
    },
  )
