/** The whole gateway's part of `scripts/bench sip`. */

import { freePort } from '../../media/testing/free-ports.ts'
import { Gateway } from '../../test/support/gateway.ts'
import { Sipp } from '../../test/support/sipp.ts'
import { cpuSeconds, family } from './processes.ts'

/** Each rate is held for so long. */
const secondsPerRate = 8
const rates = [10, 20, 40, 60, 80, 100, 130, 160, 200, 250, 300, 400, 500, 650, 800, 1000]

/** One address calls at a rate that the shield and the overload rules are there to refuse. */
export const unlimited = {
  shield: { packetsPerSecond: 1_000_000, knownPacketsPerSecond: 1_000_000 },
  overload: { busyPercent: 100, callsPerSecond: 100_000 },
}

interface Attempt {
  readonly clean: boolean
  readonly calls: number
  readonly cpuShare: number
  readonly seconds: number
}

const attempt = async (gateway: Gateway, rate: number): Promise<Attempt> => {
  const calls = rate * secondsPerRate
  const pids = family(gateway.pid)
  const before = {
    cpu: cpuSeconds(pids),
    ended: await gateway.metric('calls_ended_total'),
    at: performance.now(),
  }
  // Nothing is sent to this port: the script hangs up at once.
  const media = await freePort()
  const sipp = await Sipp.start({
    scenario: 'caller-released',
    to: `127.0.0.1:${gateway.sipPort}`,
    mediaPorts: Array.from({ length: calls }, () => media),
    rate,
    trace: false,
    values: { user: 'bench', domain: 'bench.test', payloads: '0', codecs: 'a=rtpmap:0 PCMU/8000' },
    timeoutMs: (secondsPerRate + 12) * 1000,
  })
  const finished = await sipp.succeeded().then(
    () => true,
    () => false,
  )
  await sipp.stop()
  const seconds = (performance.now() - before.at) / 1000
  const ended = (await gateway.metric('calls_ended_total')) - before.ended
  return {
    // Clean: every call answered and hung up, none retried for so long that the run dragged on.
    clean: finished && ended === calls && seconds < secondsPerRate + 3,
    calls: ended,
    cpuShare: (cpuSeconds(pids) - before.cpu) / seconds,
    seconds,
  }
}

/** What the gateway refused so far, by code. Each call takes two ports that rest for a while, so that a small range refuses before the CPU is full. */
const refusals = async (gateway: Gateway): Promise<string> =>
  (await gateway.metrics())
    .filter(({ name }) => name === 'trunkline_rejections_total')
    .map(({ labels, value }) => `${value} ${labels.code}`)
    .join(', ')

/** Prints the highest rate of calls at which every call goes through `answer` and `hangup`; stops at the first rate that does not. */
export const gatewayCalls = async (): Promise<void> => {
  const gateway = await Gateway.start({
    rtpPorts: 22_000,
    limits: { calls: 5000 },
    sip: unlimited,
    domains: [
      {
        domain: 'bench.test',
        allow: ['127.0.0.0/8'],
        handler: { kind: 'script', document: { version: '1.0.0', sections: { main: ['answer', 'hangup'] } } },
      },
    ],
  })
  try {
    let highest = 0
    for (const rate of rates) {
      const { clean, calls, cpuShare, seconds } = await attempt(gateway, rate)
      const share = `${(100 * cpuShare).toFixed(0)} % of a core`
      console.log(
        `${rate} calls/s: ${clean ? 'clean' : 'not clean'}, ${calls} calls in ${seconds.toFixed(1)} s, ${share}`,
      )
      if (!clean) {
        console.log(`refused: ${(await refusals(gateway)) || 'none; SIPp gave up'}`)
        break
      }
      highest = rate
    }
    console.log(
      `highest clean rate: ${highest} calls/s (INVITE, 200, ACK, BYE over UDP; one SIPp on the same machine)`,
    )
  } finally {
    await gateway.stop()
  }
}
