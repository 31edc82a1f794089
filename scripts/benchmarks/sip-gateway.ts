/** Figures of the whole gateway, for `scripts/bench sip`. */

import { freePort } from '../../media/testing/free-ports.ts'
import { Gateway } from '../../test/support/gateway.ts'
import { Sipp } from '../../test/support/sipp.ts'
import { cpuSeconds, family } from './processes.ts'

/** Duration of each rate. */
const secondsPerRate = 8
const rates = [10, 20, 40, 60, 80, 100, 130, 160, 200, 250, 300, 400, 500, 650, 800, 1000]

/** SIP limits for one source address at rates that the shield and the overload rules would reject. */
export const unlimited = {
  shield: { packetsPerSecond: 1_000_000, knownPacketsPerSecond: 1_000_000 },
  overload: { busyPercent: 100, callsPerSecond: 100_000 },
}

interface Attempt {
  /** Whether every call was answered and ended, without retries that prolonged the run. */
  readonly isClean: boolean
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
  // The port receives no packets, because the script hangs up at once.
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
    isClean: finished && ended === calls && seconds < secondsPerRate + 3,
    calls: ended,
    cpuShare: (cpuSeconds(pids) - before.cpu) / seconds,
    seconds,
  }
}

/** Returns the gateway's rejections by code. */
const rejections = async (gateway: Gateway): Promise<string> =>
  (await gateway.metrics())
    .filter(({ name }) => name === 'trunkline_rejections_total')
    .map(({ labels, value }) => `${value} ${labels.code}`)
    .join(', ')

/** Prints the highest rate at which every call completes. Stops at the first rate with a failure. */
export const gatewayCalls = async (): Promise<void> => {
  const gateway = await Gateway.start({
    // More ports in a row may not be free. At higher rates, calls take ports out of their quarantine.
    rtpPorts: 6_000,
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
      const { isClean, calls, cpuShare, seconds } = await attempt(gateway, rate)
      const share = `${(100 * cpuShare).toFixed(0)} % of a core`
      console.log(
        `${rate} calls/s: ${isClean ? 'clean' : 'not clean'}, ${calls} calls in ${seconds.toFixed(1)} ` +
          `s, ${share}`,
      )
      if (!isClean) {
        console.log(`rejected: ${(await rejections(gateway)) || 'none; SIPp gave up'}`)
        break
      }
      highest = rate
    }
    console.log(
      `highest clean rate: ${highest} calls/s ` +
        '(INVITE, 200, ACK, BYE over UDP; one SIPp on the same machine)',
    )
  } finally {
    await gateway.stop()
  }
}
