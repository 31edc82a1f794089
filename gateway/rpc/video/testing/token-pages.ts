/** Pages with room tokens, in real room sessions with fake media. */
import { expect, vi } from 'vitest'
import type { RoomGrant } from '../../../auth/room-token-claims.ts'
import { Call } from '../../../calls/call/call.ts'
import type { Leg } from '../../../calls/leg/leg.ts'
import { ProjectRooms } from '../../../calls/room/project-rooms.ts'
import { ConferenceFixture } from '../../../calls/testing/conference-fixture.ts'
import { FakeRecordingStore } from '../../../calls/testing/fake-recording-store.ts'
import { FakeRoomFiles } from '../../../calls/testing/fake-room-files.ts'
import { FakeRoomRecorder } from '../../../calls/testing/fake-room-recorder.ts'
import { FakeRoomStreams } from '../../../calls/testing/fake-room-streams.ts'
import { FakeTracksMedia } from '../../../calls/testing/fake-room-tracks.ts'
import { FakeRoomVideo } from '../../../calls/testing/rooms-fixture.ts'
import { roomPermissions } from '../../../rooms/permissions.ts'
import { SubscriberTestGateway, type TestPage } from '../../subscriber/testing/subscriber-test-gateway.ts'
import type { AnyFrame } from '../../testing/test-browser.ts'

/** Changes of a grant that permit everything. */
export const allPermissions = { permissions: roomPermissions }

/** Returns the member of the next event of a type. */
export const memberOf = async (page: TestPage, event: string): Promise<AnyFrame> =>
  (await page.event(`video.${event}`)).member as AnyFrame

/** A gateway with rooms, and its pages with room tokens. */
export class TokenPages {
  readonly gateway: SubscriberTestGateway
  /** Has the mixers of the rooms, and makes callers without a page. */
  readonly fixture = new ConferenceFixture()
  readonly files = new FakeRoomFiles()
  readonly streams = new FakeRoomStreams()
  readonly rooms: ProjectRooms

  private constructor(gateway: SubscriberTestGateway) {
    this.gateway = gateway
    const media = new FakeTracksMedia()
    const { recordRoom, recordPicture, recordSound } = new FakeRoomRecorder()
    this.rooms = new ProjectRooms({
      directory: gateway.directory,
      openMixer: this.fixture.openMixer,
      webrtc: {
        openRoom: () => new FakeRoomVideo(media),
        recordRoom,
        recordPicture,
        recordSound,
        tracks: media.tracks,
        streamRoom: this.streams.streamRoom,
        heard: async () => undefined,
      },
      recordings: new FakeRecordingStore(),
      files: this.files,
      rtmp: this.streams,
      clock: gateway.clock,
      log: this.fixture.log,
    })
  }

  static async start(): Promise<TokenPages> {
    return new TokenPages(await SubscriberTestGateway.start())
  }

  close(): Promise<void> {
    return this.gateway.close()
  }

  /** Makes a leg the caller of a call in a room. Resolves when the call has left it. */
  readonly enters = (leg: Leg, name = 'lounge') => {
    const { info } = this.fixture.caller('p1').call
    const { clock } = this.gateway
    const call = new Call({ info, caller: leg, clock, log: this.fixture.log, maxDurationMs: 1_000_000 })
    return this.rooms.join(call, { name })
  }

  /** Opens a page with a room token. */
  readonly withToken = async (grant: Partial<RoomGrant> = {}) => {
    const page = await this.gateway.page()
    const token = await this.gateway.roomToken(grant)
    const connected = await page.connect(token)
    return { page, token, authorization: connected.authorization as AnyFrame, protocol: connected.protocol }
  }

  /** Lets a page join the room of its token. `callId`: id of its call. */
  readonly joins = async (callId: string, grant: Partial<RoomGrant> = {}) => {
    const { arrivals, webrtc } = this.gateway
    const opened = await this.withToken(grant)
    const { page } = opened
    const count = arrivals.arrived.length
    await page.videoMessage('verto.invite', callId, { sdp: 'offer' })
    const { arrival } = await vi.waitFor(() => {
      expect(arrivals.arrived).toHaveLength(count + 1)
      return arrivals.arrived[count]!
    })
    const media = webrtc.last
    media.report('connected')
    media.video.isReceiving = true
    const left = this.enters(arrival.leg, grant.room)
    const subscribed = await page.event('video.room.subscribed')
    const session = subscribed.room_session as AnyFrame & { members: AnyFrame[] }
    const ask = (method: string, more: AnyFrame = {}) =>
      page.ask(`video.${method}`, { room_session_id: session.id, ...more })
    const memberId = subscribed.member_id as string
    return { ...opened, arrival, media, left, subscribed, session, memberId, ask }
  }
}
