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
  // Of Node's own sockets, what shows the difference.
  return [{ name: 'C relay', by: 'relay', leg: 'plain' }, ...native, ...edge('node').slice(0, 2)]
}

const cell = (value: string | number, width: number) => String(value).padStart(width)

const tell = (way: Way, calls: number, figures: Figures, floor: Figures | undefined): void => {
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
    figures.lateSlots > 0 ? `  the load was late ${figures.lateSlots}x, by ${figures.latestUs} us` : ''
  console.log(line + late)
}

/** The best of `rounds`, as what else runs on the machine only ever adds; the rounds go over all ways, so that ratios are of one time. */
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
  for (const [way, figures] of best) tell(way, calls, figures, floor)
}

/** Whether so many calls are carried: nothing lost, and nothing late, which would be lost a little later. */
const carries = ({ sent, received, p99 }: Figures): boolean => sent === received && p99 < 20_000

/** The load could not send so many: it was late all the time, and not once when the machine stood still. */
const tooMany = ({ lateSlots }: Figures): boolean => lateSlots > 700

/** More than the range of ports holds. */
const mostCalls = 2_800

/** Prints the most calls that one core carries, to within a twentieth. */
const most = async (programs: Programs, way: Way): Promise<void> => {
  let good = 0
  let bad = mostCalls
  let best: Figures | undefined
  let limit = ''
  for (let calls = 400; calls > good && calls < bad && (bad - good) / bad > 0.05; ) {
    const pace = { seconds: 5, slots: 20 }
    let figures = await measure(programs, way, calls, pace)
    // Once more, as something else may have been in the way.
    if (!carries(figures)) figures = await measure(programs, way, calls, pace)
    if (carries(figures) && !tooMany(figures)) [good, best] = [calls, figures]
    else [bad, limit] = [calls, tooMany(figures) ? ', or more, which the load could not send' : '']
    calls = bad === mostCalls ? good * 2 : Math.round((good + bad) / 40) * 20
  }
  const { usPerPacket = 0, p99 = 0 } = best ?? {}
  console.log(
    `${way.name.padEnd(36)} ${good} calls${limit}; ${usPerPacket.toFixed(1)} us per packet, p99 ${p99} us`,
  )
}

const heading =
  'calls what                                 us/pkt mediasoup  /relay  p50 us  p99 us   lost kB/call'

/** Prints what relaying costs beside what it costs a C program, and how many calls a core carries. */
export const media = async (rounds = 2, seconds = 5): Promise<void> => {
  const load = compile('rtp-load')
  const relay = compile('relay')
  if (!load || !relay) {
    console.log(
      'left out: the load, and the relay to compare with, need a C compiler (apt-get install gcc libc6-dev)',
    )
    return
  }
  const programs = { load, relay }
  const { kind, reason } = socketKind()
  if (kind === 'node') console.log(`without the native sockets: ${reason}`)
  console.log(
    `CPU and latency of each relayed packet, PCMU, 20 ms, both ways; packets leave in steps of 1 ms\n${heading}`,
  )
  for (const calls of [100, 300]) await table(programs, ways(), calls, { seconds, slots: 20 }, rounds)
  console.log(`the same with packets spread over each ms, as callers send them\n${heading}`)
  const plain = ways().filter(({ leg }) => leg === 'plain')
  for (const calls of [100, 300]) await table(programs, plain, calls, { seconds, slots: 200 }, rounds)
  console.log('most calls on one core with none lost')
  for (const way of ways()) if (way.leg === 'plain' || way.leg === 'sdes') await most(programs, way)
}
