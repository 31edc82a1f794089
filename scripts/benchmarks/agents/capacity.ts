import { setTimeout as sleep } from 'node:timers/promises'
import { markedNoise } from '../../../gateway/agent-test/testing/marked-noise.ts'
import { application, scripted } from '../../../test/support/applications.ts'
import { collectGarbage } from '../inspector.ts'
import { cpuSeconds, family, memory } from '../processes.ts'
import { printCount } from '../rooms/figures.ts'
import { onStage, type Stage, type StageEngine } from './stage.ts'
import { TalkingLine } from './talking-line.ts'

/** Length of an answer in ms, and of the round in which a caller speaks once. */
const answerMs = 1500
const roundMs = 4500
/** Time that is measured, and that of the calls before it, in s. */
const seconds = 10
const firstSeconds = 2
const warmUpMs = 5000

/** Agents whose calls are counted, with the longest CPU time of one call in ms per second. */
const cases: readonly (readonly [StageEngine, string, number])[] = [
  ['whole', 'G14 real time, PCMU straight through', 10],
  ['wide', 'G14 real time, 24 kHz', 25],
  ['spoken', 'G14 pipeline', 25],
]

/** Lets every caller speak once per round, at different times. Returns a function that ends it. */
const talk = (lines: readonly TalkingLine[], speech: Int16Array): (() => void) => {
  const timers = lines.map((line, at) => {
    const offset = (roundMs * at) / lines.length
    let next = setTimeout(function speak() {
      void line.say(speech)
      next = setTimeout(speak, roundMs)
    }, offset)
    return () => clearTimeout(next)
  })
  return () => {
    for (const stop of timers) stop()
  }
}

const residentMib = (pid: number): number => memory([pid])[0]?.mib ?? Number.NaN

/** Figures of calls of one kind. */
interface CallCosts {
  /** CPU time of one call in ms per second. */
  readonly cpuMs: number
  /** Resident memory of the gateway's process without garbage in MiB, with these calls. */
  readonly mib: number
}

const measure = async (stage: Stage, name: string, calls: number, duration = seconds): Promise<CallCosts> => {
  const { gateway } = stage
  const speech = await stage.speech('Hello, I have a question')
  const pids = family(gateway.pid)
  const idle = cpuSeconds(pids)
  await sleep(3000)
  const idleShare = (cpuSeconds(pids) - idle) / 3
  const lines: TalkingLine[] = []
  for (let i = 0; i < calls; i++) {
    const line = await TalkingLine.open(gateway.sipPort)
    await line.call(`sip:desk@${name}.test`)
    lines.push(line)
  }
  const stop = talk(lines, speech)
  await sleep(warmUpMs)
  const before = cpuSeconds(pids)
  const began = performance.now()
  await sleep(duration * 1000)
  const share = (cpuSeconds(pids) - before) / ((performance.now() - began) / 1000) - idleShare
  stop()
  await collectGarbage(gateway.pid)
  const mib = residentMib(gateway.pid)
  for (const line of lines) await line.hangUp()
  return { cpuMs: (1000 * share) / calls, mib }
}

/** Runs calls of one kind on a gateway of its own. Returns the costs, and the memory of one call. */
const alone = async (name: StageEngine | 'plain', calls: number, silero?: string) => {
  let found: CallCosts = { cpuMs: Number.NaN, mib: Number.NaN }
  let before = 0
  await onStage(
    {
      rules: [
        { when: { engine: 'speech' }, do: [{ wav: 'answer.wav' }] },
        { when: { engine: 'chat' }, do: [{ say: 'This is an answer.' }] },
        { when: { engine: 'realtime' }, do: [{ wav: { file: 'answer.wav', text: 'This is an answer.' } }] },
      ],
      sounds: { 'answer.wav': markedNoise(answerMs) },
      agents: name === 'plain' ? {} : { [name]: { engine: name } },
      domains: [application('plain.test', scripted({ answer: {} }, { play: { url: 'silence:600' } }))],
      rtpPorts: 4 * calls + 200,
      isTraced: false,
      silero,
    },
    async (stage) => {
      // What is loaded once is no cost of a call.
      await measure(stage, name, 2, firstSeconds)
      before = residentMib(stage.gateway.pid)
      found = await measure(stage, name, calls)
    },
  )
  return { ...found, mibPerCall: (found.mib - before) / calls }
}

/** Measures goals G14 and G15: CPU and memory of the gateway for each call with an agent. */
export const capacity = async (calls = 20, silero?: string): Promise<void> => {
  const plain = await alone('plain', calls)
  console.log(
    `plain call: ${plain.cpuMs.toFixed(2)} ms of CPU per second, ${plain.mibPerCall.toFixed(2)} MiB`,
  )
  for (const [engine, what, max] of cases) {
    const { cpuMs, mibPerCall } = await alone(engine, calls, silero)
    printCount(what, cpuMs, `ms/s: ${Math.floor(1000 / cpuMs)} calls per core`, max)
    const kib = 1024 * (mibPerCall - plain.mibPerCall)
    printCount('G15 memory beyond a plain call', kib, 'KiB', 1536)
  }
}
