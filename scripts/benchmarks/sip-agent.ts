/** Figures of the SIP agent and of drachtio-srf alone, for `scripts/bench sip`. */
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { Party } from './party.ts'
import { callsAt } from './sipp-load.ts'

/** Duration of each rate. */
const secondsPerRate = 6
const rates = [100, 250, 500, 750, 1_000, 1_250, 1_500, 1_750, 2_000, 2_500, 3_000]
/** Number of messages of a call: INVITE, 180, 200, ACK, BYE, 200. */
const messagesPerCall = 6

/** Prints the calls per second of a trivial application. Stops at the first rate that fails twice. */
export const agentCalls = async (): Promise<void> => {
  const party = await Party.start('both')
  try {
    let highest = 0
    for (const rate of rates) {
      // A second attempt excludes a stall of the machine.
      if (!(await attempt(party, rate)) && !(await attempt(party, rate))) break
      highest = rate
    }
    console.log(
      `agent: highest clean rate ${highest} calls/s ` +
        '(INVITE, 180, 200, ACK, BYE, 200 over UDP; SIPp on the same machine)',
    )
  } finally {
    await party.stop()
  }
}

const attempt = async (party: Party, rate: number): Promise<boolean> => {
  const before = await party.figures()
  const load = await callsAt(party.ready.sip, rate, rate * secondsPerRate)
  const after = await party.figures()
  const application = after.mainCpu - before.mainCpu
  const agent = after.cpu - before.cpu - application
  const share = (ms: number) => `${(ms / load.seconds / 10).toFixed(0)} %`
  const perCall = (ms: number) => ((1000 * ms) / Math.max(1, load.answered)).toFixed(0)
  console.log(
    `agent: ${rate} calls/s: ${load.isClean ? 'clean' : `not clean, ${load.failed} failed`}, ` +
      `${load.repeated} retransmitted, ${load.seconds.toFixed(1)} s; agent ${share(agent)} of a core, ` +
      `${perCall(agent)} µs per call, ${perCall(agent / messagesPerCall)} µs per message; ` +
      `application ${share(application)}, ${perCall(application)} µs per call`,
  )
  return load.isClean
}

const replayed = 30_000

/** Prints the capacity of drachtio-srf: the same application, with frames from a stub agent. */
export const srfAlone = async (): Promise<void> => {
  const worker = new Worker(new URL('./sip-replay.worker.ts', import.meta.url))
  const [port] = (await once(worker, 'message')) as [number]
  const party = await Party.start('app', String(port), 'none')
  try {
    for (const calls of [replayed / 3, replayed]) {
      const before = await party.figures()
      const began = performance.now()
      worker.postMessage(calls)
      await once(worker, 'message')
      const seconds = (performance.now() - began) / 1000
      const cpu = (await party.figures()).mainCpu - before.mainCpu
      // The first round warms up.
      if (calls < replayed) continue
      console.log(
        `drachtio-srf alone: ${(calls / seconds).toFixed(0)} calls/s from a replayed stream of frames, ` +
          `${((1000 * cpu) / calls).toFixed(0)} µs per call, ` +
          `or ${((1000 * calls) / cpu).toFixed(0)} calls/s per core`,
      )
    }
  } finally {
    await party.stop()
    await worker.terminate()
  }
}

const heldCalls = 4_000
const heldFor = 45_000

/** Prints the agent's memory per call, and its heap after all calls. */
export const agentMemory = async (): Promise<void> => {
  const agent = await Party.start('agent')
  const app = await Party.start('app', String(agent.ready.port), agent.ready.secret)
  try {
    const emptied = async () => {
      while ((await agent.figures()).held > 0) await sleep(500)
      return (await agent.figures()).heap
    }
    // A warm-up loads the code and tables that all calls share.
    await callsAt(agent.ready.sip, 500, 2 * heldCalls)
    const before = await emptied()
    const load = callsAt(agent.ready.sip, 500, heldCalls, heldFor)
    const look = async () => (await agent.figures()).heap
    await sleep((1000 * heldCalls) / 500 + 1_000)
    const young = await look()
    // After the end of its transactions each call has one dialog.
    while ((await agent.figures()).held > heldCalls) await sleep(1_000)
    const old = await look()
    const { failed } = await load
    const after = await emptied()
    // The smaller heap excludes memory that the runtime released meanwhile.
    const perCall = (heap: number) => ((heap - Math.min(before, after)) / heldCalls).toFixed(0)
    console.log(
      `memory of the agent: ${perCall(young)} bytes per call in its first 32 s, ` +
        `${perCall(old)} afterwards (${heldCalls} calls, ${failed} failed); ` +
        `heap ${mib(before)} MiB before, ${mib(after)} MiB after them`,
    )
  } finally {
    await app.stop()
    await agent.stop()
  }
}

const mib = (bytes: number): string => (bytes / 2 ** 20).toFixed(1)
