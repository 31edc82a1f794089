/** `scripts/bench room-size`: a room with many listeners and telephones. */
import { setTimeout as sleep } from 'node:timers/promises'
import { every } from './bot-sources.ts'
import { Gaps } from './gaps.ts'
import type { PhoneBot } from './phone-bot.ts'
import { RoomGateway } from './room-gateway.ts'

const room = 'hall'
const cameras = 4
/** Room of the goal, which is too large for the load of a small machine. */
const goal = { listeners: 96, phones: 200 }

/** Returns the cores in use during `seconds`. */
const coresOf = async (rig: RoomGateway, gaps: Gaps, seconds: number) => {
  await sleep(3_000)
  gaps.reset()
  const [before, began] = [rig.cpu(), performance.now()]
  await sleep(seconds * 1000)
  const after = rig.cpu()
  const elapsed = (performance.now() - began) / 1000
  return {
    gateway: (after.gateway - before.gateway) / elapsed,
    mediasoup: (after.mediasoup - before.mediasoup) / elapsed,
  }
}

/**
 * Measures a room of four cameras that speak, then with listeners, then with telephones too. Calculates a
 * room of 300 members from the CPU of one listener and of one telephone.
 */
export const roomSize = async (listeners = 13, phones = 33, seconds = 10): Promise<void> => {
  const members = cameras + listeners
  const rig = await RoomGateway.start({ rooms: [room], people: members, members: members + phones })
  const gaps = new Gaps()
  const callers: PhoneBot[] = []
  const stop = every(20, () => {
    for (const caller of callers) caller.send()
  })
  const step = async (what: string) => {
    const cores = await coresOf(rig, gaps, seconds)
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
      `gateway per listener ${(1000 * perListener).toFixed(2)}, per telephone ${(1000 * perPhone).toFixed(2)} ` +
        `thousandths of a core; ${cameras} cameras, ${goal.listeners} listeners and ${goal.phones} ` +
        `telephones calculated: ${all.toFixed(2)} cores`,
    )
  } finally {
    stop()
    await rig.stop()
  }
}
