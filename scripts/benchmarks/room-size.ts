/** `scripts/bench room-size`: a room with many listeners and telephones. */

import { setTimeout as sleep } from 'node:timers/promises'
import { medianOf } from '../../test/support/median.ts'
import { every } from './bot-sources.ts'
import { Gaps } from './gaps.ts'
import type { PhoneBot } from './phone-bot.ts'
import { type RoomCpu, RoomGateway } from './room-gateway.ts'

const room = 'hall'
const cameras = 4
/** Room of the goal, which is too large for the load of a small machine. */
const goal = { listeners: 96, phones: 200 }

/** Time in ms until the code of a step is compiled. */
const settleMs = 8_000

/** Windows of a step; the median counts. */
const windows = 5

/** Returns the cores in use, medians of windows of `seconds`. */
const coresOf = async (rig: RoomGateway, seconds: number): Promise<RoomCpu> => {
  const found: RoomCpu[] = []
  for (let window = 0; window < windows; window++) {
    const before = rig.cpu()
    const began = performance.now()
    await sleep(seconds * 1000)
    const after = rig.cpu()
    const elapsed = (performance.now() - began) / 1000
    const share = (key: keyof RoomCpu) => (after[key] - before[key]) / elapsed
    found.push({ gateway: share('gateway'), mediasoup: share('mediasoup') })
  }
  const middle = (key: keyof RoomCpu) => medianOf(found.map((each) => each[key]))
  return { gateway: middle('gateway'), mediasoup: middle('mediasoup') }
}

/**
 * Measures a room of four cameras that speak, then with listeners, then with telephones too. Calculates a
 * room of 300 members from the CPU of one listener and of one telephone.
 */
export const roomSize = async (listeners = 13, phones = 33, seconds = 2): Promise<void> => {
  const members = cameras + listeners
  const rig = await RoomGateway.start({ rooms: [room], people: members, members: members + phones })
  const gaps = new Gaps()
  const callers: PhoneBot[] = []
  const stop = every(20, () => {
    for (const caller of callers) caller.send()
  })
  const step = async (what: string) => {
    await sleep(settleMs)
    gaps.reset()
    const cores = await coresOf(rig, seconds)
    console.log(
      `${what.padEnd(28)} gateway ${cores.gateway.toFixed(3)} cores, mediasoup ` +
        `${cores.mediasoup.toFixed(3)}; ${gaps}`,
    )
    return cores
  }
  try {
    for (let person = 0; person < cameras; person++)
      await rig.browser(person, room, { speaks: true, hasVideo: true, onAudio: gaps.stream() })
    const first = await step(`${cameras} cameras`)
    for (let person = cameras; person < members; person++)
      await rig.browser(person, room, { onAudio: gaps.stream() })
    const second = await step(`and ${listeners} listeners`)
    for (let index = 0; index < phones; index++) callers.push(await rig.phone(room, gaps.stream()))
    const third = await step(`and ${phones} telephones`)
    const perListener = (second.gateway - first.gateway) / listeners
    const perPhone = (third.gateway - second.gateway) / phones
    const all = first.gateway + goal.listeners * perListener + goal.phones * perPhone
    console.log(
      `per listener ${(1000 * perListener).toFixed(2)} thousandths of a core; per telephone ` +
        `${(1000 * perPhone).toFixed(2)}; ${cameras} cameras, ${goal.listeners} listeners ` +
        `and ${goal.phones} telephones calculated: ${all.toFixed(2)} cores`,
    )
  } finally {
    stop()
    await rig.stop()
  }
}
