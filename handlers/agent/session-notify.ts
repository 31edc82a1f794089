import type { StatusCallback } from '../handler.ts'
import type { Json } from './document-types.ts'
import type { SessionState } from './session-state.ts'

/** JSON request to a customer's server. */
export interface LaterRequest extends Pick<StatusCallback, 'kind' | 'ends' | 'isBestEffort'> {
  /** URL with placeholders. */
  readonly url: string
  readonly body: Json
}

/** Sends a JSON request in the background, also after the end of the call. */
export const sendLater = (state: SessionState, { url, body, ...others }: LaterRequest): void =>
  state.host.context.notify({
    ...others,
    url: state.fill(url),
    method: 'POST',
    body: { contentType: 'application/json', text: JSON.stringify(body) },
  })
