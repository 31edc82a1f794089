import { expect, it, onTestFinished } from 'vitest'
import type { Browser } from '../../support/browser.ts'
import type { Gateway } from '../../support/gateway.ts'
import {
  type HeardEvent,
  openVersion3,
  openVersion4,
  type RoomApplication,
  type SdkRoom,
} from '../../support/room-applications.ts'
import type { SdkPage } from '../../support/sdk-page.ts'
import { until } from '../../support/until.ts'
import { roomToken, VideoPage } from '../../support/video-page.ts'

/** Parts of the scenario that the tests share. */
export interface SeveralRoomsFixture {
  readonly gateway: Gateway
  readonly browser: Browser
  /** Page that dials the lounge. */
  readonly dialler: SdkPage
}

/** A room of an application, and the events that its own listeners have received. */
interface Listened {
  readonly room: SdkRoom
  readonly heard: readonly HeardEvent[]
}

/** Rooms beside the lounge. */
const others = ['attic', 'cellar'] as const

/** Id of the session that an event belongs to. */
const sessionOf = ({ name, what }: HeardEvent): unknown =>
  name.startsWith('room.') ? what.id : what.roomSessionId

/** Listens to each room of an application apart, and changes each of them. */
const changesEach = async (application: RoomApplication): Promise<readonly Listened[]> => {
  await until('three rooms start', () => application.started.length === others.length + 1)
  const listened: Listened[] = []
  for (const room of application.started) listened.push({ room, heard: await application.listen(room) })
  for (const { room, heard } of listened) {
    await room.lock()
    await expect.poll(() => heard.find(({ name }) => name === 'room.updated')?.what.locked).toBe(true)
    const [member] = (await room.getMembers()).members
    await room.audioMute({ memberId: member!.id })
    await expect.poll(() => heard.find(({ name }) => name === 'member.updated')?.what.id).toBe(member!.id)
    await room.audioUnmute({ memberId: member!.id })
    await room.unlock()
  }
  return listened
}

/** Test of applications with the published server SDKs that listen to three rooms at a time. */
export const severalRooms = (fixture: () => SeveralRoomsFixture): void => {
  it('events of three rooms come to the listeners of their own room alone, in both server SDKs', async () => {
    const { gateway, browser, dialler } = fixture()
    const applications = await Promise.all([openVersion3(gateway), openVersion4(gateway)])
    onTestFinished(() => {
      for (const application of applications) application.close()
    })
    await dialler.dial('/public/lounge')
    const pages = await Promise.all(
      others.map(async (room_name) => {
        const page = await VideoPage.open(browser, gateway)
        onTestFinished(() => page.close())
        const token = await roomToken(gateway, { room_name, user_name: 'Vera', auto_create_room: true })
        expect(await page.join(token, { video: false })).toEqual({ resolved: undefined })
        return page
      }),
    )
    const rooms: Listened[] = []
    for (const application of applications) rooms.push(...(await changesEach(application)))
    for (const page of pages) await page.leave()
    await dialler.hangUp()
    for (const { room, heard } of rooms) {
      await expect.poll(() => heard.at(-1)).toMatchObject({ name: 'room.ended', what: { id: room.id } })
      expect(new Set(heard.map(sessionOf))).toEqual(new Set([room.id]))
    }
    // Another listener reports the ends of all rooms.
    for (const { started, ended } of applications)
      await expect.poll(() => [...ended].sort()).toEqual(started.map(({ id }) => id).sort())
  })
}
