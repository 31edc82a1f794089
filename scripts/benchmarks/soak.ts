/** `scripts/bench soak`. */
import { setTimeout as sleep } from 'node:timers/promises'
import { Gateway } from '../../test/support/gateway.ts'
import { StrangerFlood } from '../../test/support/stranger-flood.ts'
import { family, memory } from './processes.ts'
import { unlimited } from './sip-gateway.ts'
import { callsAt } from './sipp-load.ts'

const everyMs = 30_000
/** Growth over the second half that still counts as flat, as a share of what there is. */
const flatShare = 0.05

interface Sample {
  readonly minutes: number
  /** MiB of all processes together. */
  readonly resident: number
  /** MiB of the gateway's own heap. */
  readonly heap: number
}

/**
 * Runs calls at a rate through the whole gateway (a script that answers and waits; the caller hangs up after a second), prints memory every
 * 30 s, and says in the end whether it stayed flat. The caller is a known carrier; beside it strangers send `flood` requests of each kind a
 * second. Defaults: 30 minutes, 20 calls/s, 0: no strangers.
 */
export const soak = async (minutes = 30, rate = 20, flood = 0): Promise<void> => {
  const gateway = await Gateway.start({
    rtpPorts: 22_000,
    // Strangers have their usual limits.
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
    console.log(`${answered} calls answered and ended, ${failed} failed, ${repeated} messages repeated`)
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

/** Limits that strangers reach, by the code of their refusals. */
const strangerCodes = [
  'over_source_limit',
  'over_source_rate',
  'over_unconfirmed_limit',
  'over_stranger_share',
]

const strangersText = async (gateway: Gateway, { sent, outcomes }: StrangerFlood): Promise<string> => {
  const refused = await Promise.all(
    strangerCodes.map(async (code) => `${code} ${await gateway.metric('rejections_total', { code })}`),
  )
  const dropped = await gateway.metric('sip_dropped_total', { reason: 'rate' })
  const answers = `${outcomes.answered} of their acknowledged calls answered, ${outcomes.refused} refused`
  return `strangers: ${sent} datagrams sent, ${dropped} dropped by the shield; ${answers}; ${refused.join(', ')}`
}

const look = async (gateway: Gateway, minutes: number): Promise<Sample> => {
  const parts = memory(family(gateway.pid))
  const resident = parts.reduce((sum, { mib }) => sum + mib, 0)
  const heap = (await gateway.metric('nodejs_heap_size_used_bytes')) / 2 ** 20
  const each = parts.map(({ name, mib }) => `${name} ${mib.toFixed(0)}`).join(' + ')
  const calls = await gateway.metric('calls')
  console.log(
    `${minutes.toFixed(1)} min: resident ${resident.toFixed(0)} MiB (${each}), heap ${heap.toFixed(0)} MiB, ${calls} calls up`,
  )
  return { minutes, resident, heap }
}

/** MiB a minute, by least squares. */
const slope = (samples: readonly Sample[], of: (sample: Sample) => number): number => {
  const mean = (list: readonly number[]) => list.reduce((sum, each) => sum + each, 0) / list.length
  const x = mean(samples.map(({ minutes }) => minutes))
  const y = mean(samples.map(of))
  const spread = samples.reduce((sum, { minutes }) => sum + (minutes - x) ** 2, 0)
  return samples.reduce((sum, each) => sum + (each.minutes - x) * (of(each) - y), 0) / spread
}

/** Whether memory is flat over the second half; a heap breathes, so the slope counts and not the last figure. */
const verdict = (samples: readonly Sample[]): string => {
  const half = samples.slice(samples.length >> 1)
  const first = half[0]
  const last = half.at(-1)
  if (!first || !last || half.length < 3)
    return 'memory: too few samples for a verdict; let it run for three minutes at least'
  const span = last.minutes - first.minutes
  const growths = [slope(half, ({ resident }) => resident), slope(half, ({ heap }) => heap)] as const
  const flat =
    growths[0] * span < flatShare * first.resident && growths[1] * span < 4 * flatShare * first.heap
  const figures = `resident ${growths[0].toFixed(2)}, heap ${growths[1].toFixed(2)} MiB a minute over the last ${span.toFixed(1)} min`
  return `memory: ${flat ? 'flat' : 'NOT FLAT'} (${figures})`
}
