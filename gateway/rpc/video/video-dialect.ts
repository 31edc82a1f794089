import type { RoomGrant } from '../../auth/room-token-claims.ts'
import type { Clock } from '../../core/clock.ts'
import { catalogue } from '../../core/errors/catalogue.ts'
import type { Log } from '../../core/log.ts'
import type { Metrics } from '../../core/metrics.ts'
import type { Directory } from '../../directory/directory.ts'
import { roomPath } from '../../directory/model/address-path.ts'
import { isOpenAt } from '../../rooms/open-times.ts'
import { isPermitted } from '../../rooms/permissions.ts'
import { asRecord, RpcError, rpcCodes } from '../frames.ts'
import { handleVideoRequest, videoMethods } from '../rooms/video-requests.ts'
import type { Reply } from '../rpc-session.ts'
import type { RoomTokenDialect } from '../subscriber/browser-connection.ts'
import type { BrowserSession } from '../subscriber/browser-session.ts'
import { renewableCall } from '../subscriber/renewable-call.ts'
import { roomNamedBy } from '../subscriber/rooms/room-named-by.ts'
import type { VertoRequests } from '../subscriber/verto-requests.ts'
import { videoAuthorization } from './video-authorization.ts'

/** Collaborators of {@link VideoDialect}. */
export interface VideoDialectDeps {
  readonly verto: Pick<VertoRequests, 'handle'>
  readonly directory: Pick<Directory, 'room'>
  readonly metrics: Pick<Metrics, 'rejections'>
  readonly clock: Pick<Clock, 'now'>
  readonly log: Log
}

type Params = Readonly<Record<string, unknown>>

const messageMethod = 'video.message'
/** Messages about calls that the holder of a room token may send. */
const vertoMethods: ReadonlySet<unknown> = new Set([
  'verto.invite',
  'verto.bye',
  'verto.info',
  'verto.modify',
  'verto.pong',
])
/** Changes of a call that the holder of a room token may request. */
const actions: ReadonlySet<unknown> = new Set(['hold', 'unhold', 'updateMedia'])

/** Requests of browsers with a room token: `Video.RoomSession` of the published SDK. */
export class VideoDialect implements RoomTokenDialect {
  readonly methods = [messageMethod, ...videoMethods]
  readonly #deps: VideoDialectDeps

  constructor(deps: VideoDialectDeps) {
    this.#deps = deps
  }

  authorization(browser: BrowserSession, room: RoomGrant): Params {
    return videoAuthorization(browser, room)
  }

  handle(browser: BrowserSession, room: RoomGrant, method: string, params: Params): Reply | Promise<Reply> {
    if (method === messageMethod) return this.#handleMessage(browser, room, params)
    if (videoMethods.includes(method)) return handleVideoRequest(roomNamedBy(browser, params), method, params)
    throw new RpcError(rpcCodes.method, method.slice(0, 60))
  }

  #handleMessage(browser: BrowserSession, room: RoomGrant, params: Params): Reply | Promise<Reply> {
    const message = asRecord(params.message)
    const { method } = message ?? {}
    if (message && method === 'verto.invite') return this.#invited(browser, room, params, message)
    const { action } = asRecord(message?.params) ?? {}
    const isPermitted = vertoMethods.has(method) && (method !== 'verto.modify' || actions.has(action))
    if (method !== undefined && !isPermitted) return refused(browser, '403', 'Unauthorized')
    return this.#deps.verto.handle(browser, params)
  }

  /** Checks an invite, and sends it to the room of the token, whatever destination it names. */
  #invited(
    browser: BrowserSession,
    room: RoomGrant,
    params: Params,
    message: Params,
  ): Reply | Promise<Reply> {
    const fields = asRecord(message.params) ?? {}
    const dialog = asRecord(fields.dialogParams) ?? {}
    // The SDK does not mark the invite of a reloaded page, nor that of a page with a new connection.
    const isKnown = typeof dialog.callID === 'string' && browser.calls.has(dialog.callID)
    const isMember = isKnown || isRenewal(browser, dialog)
    const refusal = isMember ? undefined : this.#refusal(browser, room, dialog)
    if (refusal) return refused(browser, ...refusal)
    const known = isKnown && { attach: true, reattaching: browser.isNew(message.id) }
    const dialogParams = { ...dialog, destination_number: roomPath(room.room), ...known }
    return this.#deps.verto.handle(browser, {
      ...params,
      message: { ...message, params: { ...fields, dialogParams } },
    })
  }

  /** Returns the code and the text of a rejection; undefined if the holder may join. */
  #refusal(browser: BrowserSession, room: RoomGrant, dialog: Params): [string, string] | undefined {
    const action =
      dialog.screenShare === true ? 'screenshare' : dialog.additionalDevice === true && 'additional_source'
    if (action) {
      const isGranted = room.role === 'member' && isPermitted(room.permissions, action, 'self')
      return isGranted ? undefined : ['403', 'Unauthorized']
    }
    const found = this.#deps.directory.room(room.room, browser.identity.projectId).resource
    const isAny = room.roomId === undefined
    // A room that was made later at the same address has another id.
    const resource = isAny || found?.id === room.roomId ? found : undefined
    const now = this.#deps.clock.now()
    if (!isOpenAt(room, now) || (resource && !isOpenAt(resource.details, now))) {
      this.#log(browser, room, 'room_not_open')
      return ['403', 'Unauthorized']
    }
    if (resource || (isAny && room.mayCreateRoom)) return undefined
    this.#log(browser, room, 'not_found')
    return ['404', 'The room does not exist.']
  }

  #log({ identity }: BrowserSession, { room }: RoomGrant, code: 'room_not_open' | 'not_found'): void {
    this.#deps.metrics.rejections.inc({ code })
    this.#deps.log.info(
      { event: 'browser.room-refused', code, room, holder: identity.id },
      catalogue[code].text,
    )
  }
}

/** Whether an invite is that of a member whose role has changed, and who connects anew. */
const isRenewal = (browser: BrowserSession, { screenShare, additionalDevice }: Params): boolean =>
  screenShare !== true && additionalDevice !== true && renewableCall(browser, {}) !== undefined

const refused = ({ nodeId }: BrowserSession, code: string, message: string): Reply => ({
  result: { node_id: nodeId, code, message },
})
