import type { CustomerHttp } from '../callbacks/customer-http.ts'
import { outcomeOf, type PushMessage, type PushOutcome, type PushTransport } from './push-transport.ts'

/**
 * Client of an operator's own push server, which notifies the devices. Requests are signed with the keys of
 * the subscriber's project.
 */
export class PushWebhook implements PushTransport {
  readonly name = 'webhook'
  readonly #url: string
  readonly #http: Pick<CustomerHttp, 'deliver'>

  constructor(url: string, http: Pick<CustomerHttp, 'deliver'>) {
    this.#url = url
    this.#http = http
  }

  takes(): boolean {
    return true
  }

  async send({ device, payload, expiresAt }: PushMessage): Promise<PushOutcome> {
    const text = JSON.stringify({
      device_id: device.id,
      device_token: device.token,
      device_type: device.type,
      subscriber_id: device.subscriber_id,
      project_id: device.project_id,
      expires_at: new Date(expiresAt).toISOString(),
      notification: payload,
    })
    const status = await this.#http.deliver(
      { url: this.#url, method: 'POST', body: { contentType: 'application/json', text } },
      // Lets the server recognise retries of one notification.
      {
        projectId: device.project_id,
        id: `${payload.notification_uuid}.${payload.type}.${device.id}`,
      },
    )
    if (status === 410) return { kind: 'gone', reason: 'status-410' }
    return outcomeOf(status)
  }

  /** Does nothing: the owner of the HTTP client closes it. */
  close(): void {}
}
