/** `scripts/bench media`. */
import { type SocketKind, socketKind } from '../../media/edge/sockets-open.ts'
import { type Figures, measure, type Pace, type Programs, type Way } from './media-run.ts'
import type { Leg } from './media-system.ts'
import { compile } from './programs.ts'

const legs: readonly (readonly [Leg, string])[] = [
  ['plain', 'plain to plain'],
  ['sdes', 'SDES to plain'],
  ['loopback', 'plain to a port of mediasoup'],
  ['browser', 'plain to mediasoup to SRTP'],
]

const ways = (): Way[] => {
  const edge = (by: SocketKind) => legs.map(([leg, name]): Way => ({ name: `${name}, ${by}`, by, leg }))
  const native = socketKind().kind === 'native' ? edge('native') : []
  // Two rows show the difference to Node's own sockets.
  return [{ name: 'C relay', by: 'relay', leg: 'plain' }, ...native, ...edge('node').slice(0, 2)]
}

const cell = (value: string | number, width: number) => String(value).padStart(width)

const printRow = (way: Way, calls: number, figures: Figures, floor: Figures | undefined): void => {
  const { sent, received, p50, p99, usPerPacket, workerUsPerPacket, memoryPerCall } = figures
  const line = [
    cell(calls, 5),
    way.name.padEnd(36),
    cell(usPerPacket.toFixed(1), 6),
    cell(workerUsPerPacket > 0 ? workerUsPerPacket.toFixed(1) : '', 9),
    cell(floor ? (usPerPacket / floor.usPerPacket).toFixed(2) : '', 7),
    cell(p50, 7),
    cell(p99, 7),
    cell(sent - received, 6),
    cell(memoryPerCall === undefined ? '' : memoryPerCall.toFixed(0), 7),
  ].join(' ')
  const late =
    figures.lateSlots > 0
      ? `  the load was late ${figures.lateSlots} times, by up to ${figures.latestUs} us`
      : ''
  console.log(line + late)
}

/**
 * Prints the best figures of several rounds, because other load on the machine only adds cost. Each round
 * covers all ways, so that ratios compare the same period.
 */
const table = async (
  programs: Programs,
  all: readonly Way[],
  calls: number,
  pace: Pace,
  rounds: number,
): Promise<void> => {
  const best = new Map<Way, Figures>()
  for (let round = 0; round < rounds; round++)
    for (const way of all) {
      const figures = await measure(programs, way, calls, pace)
      const known = best.get(way)
      if (!known || figures.usPerPacket < known.usPerPacket) best.set(way, figures)
    }
  const floor = best.get(all[0]!)
  for (const [way, figures] of best) printRow(way, calls, figures, floor)
}

/** Whether all packets arrived in time; late packets indicate imminent loss. */
const carries = ({ sent, received, p99 }: Figures): boolean => sent === received && p99 < 20_000

/** Whether the load was the limit: late throughout, not only during one stall of the machine. */
const isLoadLimited = ({ lateSlots }: Figures): boolean => lateSlots > 700

/** Number of calls beyond the port range. */
const maxCalls = 2_800

/** Prints the maximum number of calls that one core carries, within 5 %. */
const printMaxCalls = async (programs: Programs, way: Way): Promise<void> => {
  let good = 0
  let bad = maxCalls
  let best: Figures | undefined
  let limit = ''
  for (let calls = 400; calls > good && calls < bad && (bad - good) / bad > 0.05; ) {
    const pace = { seconds: 5, slots: 20 }
    let figures = await measure(programs, way, calls, pace)
    // A second attempt excludes other load on the machine.
    if (!carries(figures)) figures = await measure(programs, way, calls, pace)
    if (carries(figures) && !isLoadLimited(figures)) {
      good = calls
      best = figures
    } else {
      bad = calls
      limit = isLoadLimited(figures) ? ', or more; the load could not send more' : ''
    }
    calls = bad === maxCalls ? good * 2 : Math.round((good + bad) / 40) * 20
  }
  const { usPerPacket = 0, p99 = 0 } = best ?? {}
  console.log(
    `${way.name.padEnd(36)} ${good} calls${limit}; ${usPerPacket.toFixed(1)} us per packet, p99 ${p99} us`,
  )
}

const heading =
  'calls what                                 us/pkt mediasoup  /relay  p50 us  p99 us   lost kB/call'

/** Prints the cost of relaying compared with a C program, and the number of calls that one core carries. */
export const media = async (rounds = 2, seconds = 5): Promise<void> => {
  const load = compile('rtp-load')
  const relay = compile('relay')
  if (!load || !relay) {
    console.log('skipped: the load and the reference relay need a C compiler (apt-get install gcc libc6-dev)')
    return
  }
  const programs = { load, relay }
  const { kind, reason } = socketKind()
  if (kind === 'node') console.log(`without the native sockets: ${reason}`)
  console.log(
    'CPU and latency of each relayed packet, PCMU, 20 ms, both ways; packets leave in steps of 1 ms\n' +
      heading,
  )
  for (const calls of [100, 300]) await table(programs, ways(), calls, { seconds, slots: 20 }, rounds)
  console.log(`the same with packets spread over each ms, as from callers\n${heading}`)
  const plain = ways().filter(({ leg }) => leg === 'plain')
  for (const calls of [100, 300]) await table(programs, plain, calls, { seconds, slots: 200 }, rounds)
  console.log('maximum number of calls on one core without loss')
  for (const way of ways()) if (way.leg === 'plain' || way.leg === 'sdes') await printMaxCalls(programs, way)
}
