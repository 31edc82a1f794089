/** `scripts/bench calls`. */

import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { Gateway } from '../../test/support/gateway.ts'
import { Sipp } from '../../test/support/sipp.ts'
import { until } from '../../test/support/until.ts'
import { cpuSeconds, family } from './processes.ts'

const codec = { payloads: '0', codecs: 'a=rtpmap:0 PCMU/8000' }

/** Opens RTP peers in a separate thread, undisturbed by SIPp and the harness. */
const openPeers = async (count: number): Promise<{ worker: Worker; ports: number[] }> => {
  const worker = new Worker(new URL('./rtp-thread.ts', import.meta.url), { workerData: { count } })
  const [ports] = (await once(worker, 'message')) as [number[]]
  return { worker, ports }
}

const portsFrom = (sipp: Sipp, word: string): number[] =>
  sipp.events.flatMap((event) => (event.startsWith(`${word} `) ? [Number(event.split(' ')[1])] : []))

/**
 * Prints the CPU use of the gateway's processes and the packet loss, measured over `seconds`. The load is
 * `count` simultaneous carrier-to-carrier calls with PCMU both ways at 50 packets per second.
 */
export const calls = async (count = 50, seconds = 15): Promise<void> => {
  const talkMs = (seconds + 20) * 1000
  const left = await openPeers(count)
  const right = await openPeers(count)
  const common = { rate: 20, timeoutMs: talkMs + 20_000, trace: false }
  const callee = await Sipp.start({ ...common, scenario: 'callee', mediaPorts: right.ports, values: codec })
  const connect = { connect: { to: `sip:bench@127.0.0.1:${callee.port}`, answer_on_bridge: true } }
  const gateway = await Gateway.start({
    rtpPorts: 4 * count + 200,
    domains: [
      {
        domain: 'bench.test',
        allow: ['127.0.0.0/8'],
        handler: { kind: 'script', document: { version: '1.0.0', sections: { main: [connect] } } },
      },
    ],
  })
  const values = { ...codec, user: 'bench', domain: 'bench.test' }
  const to = `127.0.0.1:${gateway.sipPort}`
  const caller = await Sipp.start({
    ...common,
    scenario: 'caller',
    mediaPorts: left.ports,
    to,
    values,
    holdMs: talkMs,
  })
  try {
    await until(
      'all calls are bridged',
      () => gateway.metric('bridges'),
      (bridges) => bridges === count,
      30_000,
    )
    const idle = cpuSeconds(family(gateway.pid))
    await sleep(2_000)
    const silent = (cpuSeconds(family(gateway.pid)) - idle) / 2
    left.worker.postMessage({ to: portsFrom(caller, 'answered') })
    right.worker.postMessage({ to: portsFrom(callee, 'invited') })
    await sleep(3_000)
    const before = cpuSeconds(family(gateway.pid))
    await sleep(seconds * 1000)
    const share = (cpuSeconds(family(gateway.pid)) - before) / seconds
    const counts = await Promise.all(
      [left, right].map(async ({ worker }) => {
        worker.postMessage({ stop: true })
        const [count] = (await once(worker, 'message')) as [{ sent: number; received: number }]
        return count
      }),
    )
    const sent = counts.reduce((sum, count) => sum + count.sent, 0)
    const received = counts.reduce((sum, count) => sum + count.received, 0)
    console.log(
      `${count} bridged calls, carrier to carrier, PCMU: ${(100 * share).toFixed(1)} % of a core ` +
        `(without audio ${(100 * silent).toFixed(1)} %)`,
    )
    console.log(
      `per call ${((100 * share) / count).toFixed(3)} % of a core, ` +
        `${((1e6 * share) / (count * 100)).toFixed(1)} us per relayed packet`,
    )
    console.log(
      `packets: ${sent} sent, ${received} received, ${(100 * (1 - received / sent)).toFixed(3)} % lost`,
    )
  } finally {
    await Promise.all([left.worker.terminate(), right.worker.terminate()])
    await caller.stop()
    await callee.stop()
    await gateway.stop()
  }
}
