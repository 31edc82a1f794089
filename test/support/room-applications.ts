/** Applications with `Video` of the published server SDKs, unmodified, behind one interface. */
import { createRequire } from 'node:module'
import { SignalWire } from 'realtime-api-4'
// The package does not say where its types are.
import type * as Sdk3 from '../../node_modules/realtime-api-3/dist/realtime-api/src/index.d.ts'
import type { Gateway } from './gateway.ts'
import { apiToken } from './recorded.ts'
import { until } from './until.ts'

/** Member of a room, as the SDKs show it. */
export interface SdkMember {
  readonly id: string
  readonly name: string
  readonly audioMuted: boolean
}

interface MemberChoice {
  readonly memberId: string
}

/** Room session of the SDKs: the methods that both versions have. */
export interface SdkRoom {
  readonly id: string
  readonly name: string
  readonly locked: boolean
  readonly layoutName: string
  getMembers(): Promise<{ members: readonly SdkMember[] }>
  getLayouts(): Promise<{ layouts: readonly string[] }>
  setLayout(layout: { readonly name: string }): Promise<unknown>
  audioMute(choice: MemberChoice): Promise<unknown>
  audioUnmute(choice: MemberChoice): Promise<unknown>
  removeMember(choice: MemberChoice): Promise<unknown>
  removeAllMembers(): Promise<unknown>
  lock(): Promise<unknown>
  unlock(): Promise<unknown>
  setPrioritizeHandraise(isPrioritized: boolean): Promise<unknown>
  setMeta(meta: object): Promise<unknown>
  updateMeta(meta: object): Promise<unknown>
  deleteMeta(keys: readonly string[]): Promise<unknown>
  getMeta(): Promise<unknown>
  updateMemberMeta(meta: MemberChoice & { readonly meta: object }): Promise<unknown>
  play(file: { readonly url: string }): Promise<unknown>
  getMemberMeta(choice: MemberChoice): Promise<unknown>
}

/** Event of a room: its name without prefix, and the object that the listener received. */
export interface HeardEvent {
  readonly name: string
  // biome-ignore lint/suspicious/noExplicitAny: members, rooms and layouts have different properties.
  readonly what: any
}

/** Listeners of version 4, by the names of the events in version 3. */
const listenersOf4 = {
  'room.subscribed': 'onRoomSubscribed',
  'room.updated': 'onRoomUpdated',
  'room.ended': 'onRoomEnded',
  'member.joined': 'onMemberJoined',
  'member.updated': 'onMemberUpdated',
  'member.updated.audioMuted': 'onMemberAudioMuted',
  'member.left': 'onMemberLeft',
  'member.talking.started': 'onMemberTalkingStarted',
  'layout.changed': 'onLayoutChanged',
} as const

/** Application of a customer, which keeps the rooms that it learns of. */
export interface RoomApplication {
  /** Sessions that have started, or were in progress. */
  readonly started: readonly SdkRoom[]
  /** Ids of sessions that have ended. */
  readonly ended: readonly string[]
  /** Listens to a room. Resolves with its events, which grow, when the SDK has its state. */
  listen(room: SdkRoom): Promise<readonly HeardEvent[]>
  sessions(): Promise<readonly SdkRoom[]>
  session(id: string): Promise<SdkRoom>
  close(): void
}

const hostOf = ({ httpPort }: Gateway): string => `ws://127.0.0.1:${httpPort}`

/** Opens an application with version 3, which listens for rooms. */
export const openVersion3 = async (gateway: Gateway): Promise<RoomApplication> => {
  const { Video } = createRequire(import.meta.url)('realtime-api-3') as typeof Sdk3
  const options = { project: 'default', token: apiToken, host: hostOf(gateway), logLevel: 'silent' as const }
  const client = new Video.Client(options)
  const started: SdkRoom[] = []
  const ended: string[] = []
  client.on('room.started', (room) => void started.push(room as unknown as SdkRoom))
  client.on('room.ended', ({ id }) => void ended.push(id))
  return {
    started,
    ended,
    listen: async (room) => {
      const heard: HeardEvent[] = []
      const theirs = room as unknown as {
        on(name: string, listener: (what: unknown) => void): void
        subscribe(): Promise<unknown>
      }
      for (const name of Object.keys(listenersOf4)) theirs.on(name, (what) => void heard.push({ name, what }))
      await theirs.subscribe()
      return heard
    },
    sessions: async () => (await client.getRoomSessions()).roomSessions as unknown as SdkRoom[],
    session: async (id) => (await client.getRoomSessionById(id)).roomSession as unknown as SdkRoom,
    close: () => client.disconnect(),
  }
}

/** Opens an application with version 4, which listens for rooms. */
export const openVersion4 = async (gateway: Gateway): Promise<RoomApplication> => {
  const options = { project: 'default', token: apiToken, host: hostOf(gateway), logLevel: 'silent' as const }
  const client = await SignalWire(options)
  const started: SdkRoom[] = []
  const ended: string[] = []
  await client.video.listen({
    onRoomStarted: (room) => void started.push(room as unknown as SdkRoom),
    onRoomEnded: ({ id }) => void ended.push(id),
  })
  return {
    started,
    ended,
    listen: async (room) => {
      const heard: HeardEvent[] = []
      const listeners = Object.fromEntries(
        Object.entries(listenersOf4).map(([name, listener]) => [
          listener,
          (what: unknown) => void heard.push({ name, what }),
        ]),
      )
      await (room as unknown as { listen(listeners: object): Promise<unknown> }).listen(listeners)
      await until('the SDK has the state of the room', () =>
        heard.some(({ name }) => name === 'room.subscribed'),
      )
      return heard
    },
    sessions: async () => (await client.video.getRoomSessions()).roomSessions as unknown as SdkRoom[],
    session: async (id) => (await client.video.getRoomSessionById(id)).roomSession as unknown as SdkRoom,
    close: () => void client.disconnect(),
  }
}
