/** `scripts/bench room-soak`: members that join and leave many rooms. */
import { setTimeout as sleep } from 'node:timers/promises'
import { readMetrics } from '../../test/support/metrics.ts'
import { collectGarbage } from './inspector.ts'
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

/** Wait for V8, which returns pages to the system in a thread of its own. */
const releaseMs = 2_000

/** Gauges of rates and caches, whose entries expire later, and of the load. */
const expiring: ReadonlySet<string> = new Set([
  'trunkline_browser_shares',
  'trunkline_tokens_checked',
  'trunkline_load_percent',
  'trunkline_nodejs_eventloop_lag_seconds',
])

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

/**
 * Lets members join and leave 100 rooms in turns, with screens. Compares the memory at rest, without garbage,
 * after the first joins and after the last. Prints the gauges that stay above zero.
 */
export const roomSoak = async (joins = 1000): Promise<void> => {
  const rig = await RoomGateway.start({ rooms, people: 2 * lanes, members: 20 * lanes })
  const { url, pid } = rig.gateway
  let visits = 0
  const run = async (to: number) => {
    const runLane = async (lane: number) => {
      while (visits < to) await visit(rig, lane, visits++)
    }
    await Promise.all(Array.from({ length: lanes }, (_, lane) => runLane(lane)))
    console.log(
      `${to * joinsPerVisit} joins and leaves: ${residentOf(pid).toFixed(0)} MiB resident at the end`,
    )
  }
  try {
    const before = await gaugesOf(url)
    const rest = async () => {
      const left = await leftOver(url, before)
      const withGarbage = residentOf(pid)
      const heap = await collectGarbage(pid)
      await sleep(releaseMs)
      const mib = residentOf(pid)
      const text = left.length === 0 ? 'every gauge is zero again' : `gauges above zero: ${left.join(', ')}`
      console.log(
        `at rest: ${withGarbage.toFixed(0)} MiB resident, ${mib.toFixed(0)} without garbage, ` +
          `heap ${heap.toFixed(1)} MiB, ${text}`,
      )
      return mib
    }
    await run(Math.ceil(warmUp / joinsPerVisit))
    const first = await rest()
    await run(Math.ceil(joins / joinsPerVisit))
    const growth = (await rest()) / first - 1
    const isFlat = Math.abs(growth) <= flatShare
    const errors = rig.gateway.log.filter(({ level }) => level >= 50).length
    console.log(
      `memory: ${isFlat ? 'flat' : 'NOT FLAT'}, ${(100 * growth).toFixed(1)} % at rest; ` +
        `${rooms.length} rooms, ${Math.ceil(visits / 3)} screens, ${errors} errors in the log`,
    )
  } finally {
    await rig.stop()
  }
}
