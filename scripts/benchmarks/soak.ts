/** `scripts/bench soak`. */
import { setTimeout as sleep } from 'node:timers/promises'
import { Gateway } from '../../test/support/gateway.ts'
import { StrangerFlood } from '../../test/support/stranger-flood.ts'
import { family, memory } from './processes.ts'
import { unlimited } from './sip-gateway.ts'
import { callsAt } from './sipp-load.ts'

const everyMs = 30_000
/** Maximum growth over the second half that counts as flat, as a share of the memory. */
const flatShare = 0.05

interface Sample {
  readonly minutes: number
  /** Resident memory of all processes, in MiB. */
  readonly resident: number
  /** Heap of the gateway's main process, in MiB. */
  readonly heap: number
}

/**
 * Runs calls from a known carrier at a rate through the gateway: a script answers and waits, and the caller
 * hangs up after a second. Prints memory every 30 s, and finally whether it stayed flat. Meanwhile untrusted
 * sources send `flood` requests of each kind per second; 0 sends none.
 */
export const soak = async (minutes = 30, rate = 20, flood = 0): Promise<void> => {
  const gateway = await Gateway.start({
    rtpPorts: 6_000,
    // Untrusted sources have the default limits.
    limits: { calls: 5000, strangers: {} },
    sip: unlimited,
    domains: [
      { domain: 'bench.test', allow: ['127.0.0.1/32'], handler },
      { domain: 'open.test', handler },
    ],
  })
  const strangers =
    flood > 0
      ? await StrangerFlood.start({
          port: gateway.sipPort,
          uri: 'sip:1@open.test',
          perSecond: flood,
          connections: 200,
        })
      : undefined
  try {
    let running = true
    const load = callsAt(gateway.sipPort, rate, Math.round(rate * minutes * 60), 1_000, 'bench.test').finally(
      () => {
        running = false
      },
    )
    const samples: Sample[] = []
    const began = performance.now()
    while (running) {
      await Promise.race([load, sleep(everyMs)])
      if (running) samples.push(await look(gateway, (performance.now() - began) / 60_000))
    }
    const { answered, failed, repeated } = await load
    console.log(`${answered} calls answered and ended, ${failed} failed, ${repeated} messages retransmitted`)
    if (strangers) console.log(await strangersText(gateway, strangers))
    console.log(verdict(samples))
  } finally {
    strangers?.stop()
    await gateway.stop()
  }
}

const handler = {
  kind: 'script',
  document: { version: '1.0.0', sections: { main: ['answer', { sleep: 60_000 }] } },
}

/** Error codes of the limits for untrusted sources. */
const strangerCodes = [
  'over_source_limit',
  'over_source_rate',
  'over_unconfirmed_limit',
  'over_stranger_share',
]

const strangersText = async (gateway: Gateway, { sent, outcomes }: StrangerFlood): Promise<string> => {
  const rejected = await Promise.all(
    strangerCodes.map(async (code) => `${code} ${await gateway.metric('rejections_total', { code })}`),
  )
  const dropped = await gateway.metric('sip_dropped_total', { reason: 'rate' })
  const answers = `${outcomes.answered} acknowledged calls answered, ${outcomes.refused} rejected`
  return (
    `untrusted sources: ${sent} datagrams sent, ${dropped} dropped by the shield; ` +
    `${answers}; ${rejected.join(', ')}`
  )
}

const look = async (gateway: Gateway, minutes: number): Promise<Sample> => {
  const parts = memory(family(gateway.pid))
  const resident = parts.reduce((sum, { mib }) => sum + mib, 0)
  const heap = (await gateway.metric('nodejs_heap_size_used_bytes')) / 2 ** 20
  const each = parts.map(({ name, mib }) => `${name} ${mib.toFixed(0)}`).join(' + ')
  const calls = await gateway.metric('calls')
  console.log(
    `${minutes.toFixed(1)} min: resident ${resident.toFixed(0)} MiB (${each}), ` +
      `heap ${heap.toFixed(0)} MiB, ${calls} active calls`,
  )
  return { minutes, resident, heap }
}

/** Returns the growth in MiB per minute, by least squares. */
const slope = (samples: readonly Sample[], of: (sample: Sample) => number): number => {
  const mean = (list: readonly number[]) => list.reduce((sum, each) => sum + each, 0) / list.length
  const x = mean(samples.map(({ minutes }) => minutes))
  const y = mean(samples.map(of))
  const spread = samples.reduce((sum, { minutes }) => sum + (minutes - x) ** 2, 0)
  return samples.reduce((sum, each) => sum + (each.minutes - x) * (of(each) - y), 0) / spread
}

/** Returns the verdict on the second half, from the slope: single figures of a heap vary. */
const verdict = (samples: readonly Sample[]): string => {
  const half = samples.slice(samples.length >> 1)
  const first = half[0]
  const last = half.at(-1)
  if (!first || !last || half.length < 3)
    return 'memory: too few samples for a verdict; run at least three minutes'
  const span = last.minutes - first.minutes
  const growths = [slope(half, ({ resident }) => resident), slope(half, ({ heap }) => heap)] as const
  const isFlat =
    growths[0] * span < flatShare * first.resident && growths[1] * span < 4 * flatShare * first.heap
  const figures =
    `resident ${growths[0].toFixed(2)}, heap ${growths[1].toFixed(2)} MiB per minute ` +
    `over the last ${span.toFixed(1)} min`
  return `memory: ${isFlat ? 'flat' : 'NOT FLAT'} (${figures})`
}
