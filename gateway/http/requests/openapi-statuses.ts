import type { FastifySchema } from 'fastify'
import { familyOf } from './api-family.ts'

/** Route of the API, as far as its errors depend on it. */
export interface DocumentedRoute {
  readonly method: string
  /** Path with `:names`. */
  readonly url: string
  readonly schema: FastifySchema
}

/** Descriptions of error statuses, for every route. */
export const statusMeanings: Readonly<Record<number, string>> = {
  400: 'The request is malformed.',
  401: 'The credentials are missing or wrong.',
  403: 'The credentials do not permit this, or a limit of the project is reached.',
  404: 'An object that the request names does not exist in this project.',
  409: 'The request conflicts with the state of the object or call, or with another request of the same key.',
  413: 'The body is too large.',
  415: 'The content type of the body is not supported.',
  416: 'The range is behind the end of the file.',
  422: 'Fields are missing or invalid. The errors name each of them.',
  429: 'Too many requests or calls. If the response has `retry-after`, retry after that time.',
  500: 'Internal error of the gateway.',
  501: 'The call does not support this command, or the gateway has no ffmpeg.',
  502: 'The far side of the call failed or refused.',
  503: 'The gateway is shutting down or overloaded, or its store is not available.',
}

/** Statuses of operations that the rules of {@link errorStatusesOf} do not give, by operation id. */
const more: Readonly<Record<string, readonly number[]>> = {
  // The path has no id, but the body names an object.
  callCommand: [404, 501, 502],
  create_message: [404],
  join_conversation: [404],
  // These operations check something else than the credentials in the header.
  create_embed_guest_token: [403],
  exchange_conference_token: [403],
  signInAtOwnPage: [401, 403],
  // The session has ended, or is on another gateway. A layout may not be available at present.
  update_room_session: [409],
  update_room_session_member: [409],
  delete_room_session_member: [409],
  delete_room_session_stream: [409],
  // Streams need ffmpeg.
  create_video_room_stream: [501],
  create_video_conference_stream: [501],
  create_room_session_stream: [501],
  // A recording that has not ended, or a range behind its end.
  delete_recording: [409],
  get_recording_audio: [409, 416],
  delete_room_recording: [409],
  fetchCompatRecording: [409, 416],
}

/** Operations that every holder of a subscriber access token may use. */
const permitted: ReadonlySet<string> = new Set(['get_address', 'get_subscriber_info', 'list_addresses'])

/** Paths of objects that the configuration file may declare, which the API then cannot change. */
const declarable =
  /^\/api\/(?:fabric\/(?:resources|subscribers|domain_applications|carriers)|relay|project|oauth_clients|video\/(?:rooms|conferences|streams))\b/

/**
 * Returns the error statuses that a route can answer with. Bodies of requests that have none, such as those
 * of DELETE, are left out.
 */
export const errorStatusesOf = ({ method, url, schema }: DocumentedRoute): readonly number[] => {
  const { body, querystring, security = [], operationId = '' } = schema
  const isCompat = familyOf(url) === 'compat'
  const isSecured = security.length > 0
  // A POST with credentials takes an idempotency key.
  const hasKey = method === 'POST' && isSecured
  const isChange = ['PUT', 'PATCH', 'DELETE'].includes(method)
  const statuses = [
    ...(body ? [400, 413, 415] : []),
    ...(body || querystring || hasKey ? [isCompat ? 400 : 422] : []),
    ...(isSecured ? [401] : []),
    ...(isSecured && !permitted.has(operationId) ? [403] : []),
    ...(url.includes('/:') ? [404] : []),
    ...(hasKey || (isChange && (isCompat || declarable.test(url))) ? [409] : []),
    ...(more[operationId] ?? []),
  ]
  return [...new Set([...statuses, 429, 500, 503])].sort()
}
