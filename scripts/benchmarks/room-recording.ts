/** `scripts/bench room-recording`: many rooms that are recorded at once. */

import { setTimeout as sleep } from 'node:timers/promises'
import { readWebm } from '../../media/record/testing/read-webm.ts'
import { medianOf } from '../../test/support/median.ts'
import { rest } from '../../test/support/rest.ts'
import { until } from '../../test/support/until.ts'
import { every } from './bot-sources.ts'
import type { BrowserBot } from './browser-bot.ts'
import { Gaps } from './gaps.ts'
import type { PhoneBot } from './phone-bot.ts'
import { type RoomCpu, RoomGateway } from './room-gateway.ts'

const path = '/api/video/room_recordings'

interface Listed {
  readonly id: string
  readonly status: string
  readonly started_at: string
  readonly uri: string | null
}

const listOf = async (rig: RoomGateway): Promise<readonly Listed[]> =>
  (await rest(rig.gateway, 'GET', `${path}?page_size=100`)).body.data

/** Members of a room: a speaker with a camera, and a telephone. */
interface Pair {
  readonly browser: BrowserBot
  readonly phone: PhoneBot
  /** Time when the speaker's media was connected. */
  readonly began: number
}

/** Lets two members join each room, measures the CPU, and returns it with the members. */
const meet = async (rig: RoomGateway, rooms: readonly string[], seconds: number) => {
  const gaps = new Gaps()
  const pairs: Pair[] = []
  const stop = every(20, () => {
    for (const { phone } of pairs) phone.send()
  })
  for (const [person, room] of rooms.entries()) {
    const browser = await rig.browser(person, room, { speaks: true, hasVideo: true })
    const connectedAt = performance.now()
    pairs.push({ browser, phone: await rig.phone(room, gaps.stream()), began: connectedAt })
  }
  await sleep(3_000)
  gaps.reset()
  const before = rig.cpu()
  const began = performance.now()
  await sleep(seconds * 1000)
  const after = rig.cpu()
  const elapsed = (performance.now() - began) / 1000
  stop()
  const share = (key: keyof RoomCpu) => (after[key] - before[key]) / elapsed
  return { pairs, gaps: String(gaps), gateway: share('gateway'), mediasoup: share('mediasoup') }
}

const leave = async (pairs: readonly Pair[]): Promise<void> => {
  for (const { phone } of pairs) await phone.leave()
  await Promise.all(pairs.map(({ browser }) => browser.leave()))
}

/**
 * Returns the time in ms from the end of the rooms until every file can be played, and the errors of the
 * durations.
 */
const finish = async (rig: RoomGateway, pairs: readonly Pair[]) => {
  for (const { phone } of pairs) await phone.leave()
  const ended = performance.now()
  await Promise.all(pairs.map(({ browser }) => browser.leave()))
  const listed = await until(
    'all recordings are completed',
    () => listOf(rig),
    (list) => list.length === pairs.length && list.every(({ status }) => status === 'completed'),
  )
  const errors: number[] = []
  const inOrder = listed.toSorted((a, b) => Date.parse(a.started_at) - Date.parse(b.started_at))
  for (const [index, { uri }] of inOrder.entries()) {
    const { pathname, search } = new URL(uri ?? '')
    const file = await fetch(`${rig.gateway.url}${pathname}${search}`)
    const { durationMs = 0, blocks, rest: cut } = readWebm(Buffer.from(await file.arrayBuffer()))
    if (cut > 0 || !blocks.some(({ isKey, track }) => isKey && track === 1))
      throw new Error(`${uri}: no picture`)
    errors.push(durationMs - (ended - pairs[index]!.began))
  }
  return { ms: performance.now() - ended, errors }
}

/**
 * Compares rooms that are recorded with rooms that are not, in turns. Prints the CPU, the gaps of the audio,
 * and the time until the files can be played.
 */
export const roomRecording = async (count = 20, rounds = 3, seconds = 8): Promise<void> => {
  const rooms = Array.from({ length: count }, (_, index) => `room${index}`)
  const settings = { people: count, members: 2 * count, rooms }
  const differences: number[] = []
  for (let round = 0; round < rounds; round++) {
    const cores: number[] = []
    for (const isRecorded of [false, true]) {
      const rig = await RoomGateway.start({ ...settings, settings: { record_on_start: isRecorded } })
      try {
        const { pairs, gaps, gateway, mediasoup } = await meet(rig, rooms, seconds)
        cores.push(gateway + mediasoup)
        console.log(
          `${count} rooms${isRecorded ? '' : ' not'} recorded: gateway ${gateway.toFixed(3)} cores, ` +
            `mediasoup ${mediasoup.toFixed(3)}; telephones: ${gaps}`,
        )
        if (!isRecorded) await leave(pairs)
        else {
          const { ms, errors } = await finish(rig, pairs)
          console.log(
            `all files playable ${ms.toFixed(0)} ms after the last members left; length of a file less the ` +
              `time that its speaker was there: median ${medianOf(errors).toFixed(0)} ms, ` +
              `${Math.min(...errors).toFixed(0)} to ${Math.max(...errors).toFixed(0)}`,
          )
        }
      } finally {
        await rig.stop()
      }
    }
    differences.push(cores[1]! - cores[0]!)
  }
  console.log(
    `recording of ${count} rooms: median ${medianOf(differences).toFixed(3)} cores ` +
      `(${differences.map((each) => each.toFixed(3)).join(', ')})`,
  )
}
