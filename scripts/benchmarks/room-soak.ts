/** `scripts/bench room-soak`: members that join and leave many rooms. */
import { setTimeout as sleep } from 'node:timers/promises'
import { readMetrics } from '../../test/support/metrics.ts'
import { family, memory } from './processes.ts'
import { RoomGateway } from './room-gateway.ts'

const rooms = Array.from({ length: 100 }, (_, index) => `room${index}`)
/** Number of rooms in use at a time. */
const lanes = 4
const joinsPerVisit = 3
/** Joins before the memory is compared. */
const warmUp = 200
/** Maximum difference of memory that counts as flat. */
const flatShare = 0.05
/** Wait for members that left without a word, and for SIP transactions. */
const settleMs = 60_000

/** Gauges of rates and caches, whose entries expire later, and of the load. */
const expiring: ReadonlySet<string> = new Set([
  'trunkline_browser_shares',
  'trunkline_tokens_checked',
  'trunkline_load_percent',
  'trunkline_nodejs_eventloop_lag_seconds',
])

interface Sample {
  readonly joins: number
  readonly mib: number
}

/** Returns the gauges of the gateway by name, sums of their labels. */
const gaugesOf = async (url: string): Promise<Map<string, number>> => {
  const text = await (await fetch(`${url}/metrics`)).text()
  const names = new Set([...text.matchAll(/^# TYPE (\w+) gauge$/gm)].map(([, name]) => name))
  const gauges = new Map<string, number>()
  for (const { name, value } of readMetrics(text))
    if (names.has(name)) gauges.set(name, (gauges.get(name) ?? 0) + value)
  return gauges
}

const residentOf = (pid: number): number => memory(family(pid)).reduce((sum, { mib }) => sum + mib, 0)

/**
 * Lets a browser with a camera, one without, and a telephone meet in a room. Every third room has a screen.
 */
const visit = async (rig: RoomGateway, lane: number, index: number): Promise<void> => {
  const room = rooms[index % rooms.length]!
  const first = await rig.browser(2 * lane, room, { speaks: true, hasVideo: true })
  const second = await rig.browser(2 * lane + 1, room)
  const phone = await rig.phone(room)
  if (index % 3 === 0) {
    await first.share(`/public/${room}?channel=video`)
    if (index % 2 === 0) await first.unshare()
  }
  await second.leave()
  await phone.leave()
  // Every tenth page is closed without a word.
  await first.leave(index % 10 !== 9)
}

/** Returns the gauges that were zero before and are not zero again after {@link settleMs}. */
const leftOver = async (url: string, before: ReadonlyMap<string, number>): Promise<string[]> => {
  const end = performance.now() + settleMs
  for (;;) {
    const left = [...(await gaugesOf(url))].filter(
      ([name, value]) => value !== 0 && !before.get(name) && !expiring.has(name),
    )
    if (left.length === 0 || performance.now() > end) return left.map(([name, value]) => `${name} ${value}`)
    await sleep(1_000)
  }
}

const meanOf = (samples: readonly Sample[]): number =>
  samples.reduce((sum, { mib }) => sum + mib, 0) / samples.length

/** Compares the first and the last quarter after {@link warmUp}: single figures of a heap vary. */
const verdict = (samples: readonly Sample[]): string => {
  const late = samples.filter(({ joins }) => joins >= warmUp)
  const quarter = late.length >> 2
  if (quarter < 2) return 'memory: too few joins for a verdict'
  const first = meanOf(late.slice(0, quarter))
  const last = meanOf(late.slice(-quarter))
  const growth = last / first - 1
  return (
    `memory: ${Math.abs(growth) <= flatShare ? 'flat' : 'NOT FLAT'}, ${first.toFixed(0)} MiB resident ` +
    `in the first quarter after ${warmUp} joins, ${last.toFixed(0)} in the last one ` +
    `(${(100 * growth).toFixed(1)} %)`
  )
}

/**
 * Lets members join and leave 100 rooms in turns, with screens. Prints memory, and finally the gauges
 * that stay above zero.
 */
export const roomSoak = async (joins = 1000): Promise<void> => {
  const rig = await RoomGateway.start({ rooms, people: 2 * lanes, members: 20 * lanes })
  const { gateway } = rig
  const visits = Math.ceil(joins / joinsPerVisit)
  const samples: Sample[] = []
  let next = 0
  let done = 0
  const run = async (lane: number) => {
    while (next < visits) {
      await visit(rig, lane, next++)
      done += joinsPerVisit
      samples.push({ joins: done, mib: residentOf(gateway.pid) })
      const { mib } = samples.at(-1)!
      if (samples.length % 25 === 0) console.log(`${done} joins: resident ${mib.toFixed(0)} MiB`)
    }
  }
  try {
    const before = await gaugesOf(gateway.url)
    await Promise.all(Array.from({ length: lanes }, (_, lane) => run(lane)))
    console.log(`${done} joins and leaves, ${rooms.length} rooms, ${Math.ceil(visits / 3)} screens`)
    const left = await leftOver(gateway.url, before)
    console.log(left.length === 0 ? 'every gauge is zero again' : `gauges above zero: ${left.join(', ')}`)
    console.log(verdict(samples))
    const errors = gateway.log.filter(({ level }) => level >= 50).length
    console.log(`${errors} errors in the log`)
  } finally {
    await rig.stop()
  }
}
