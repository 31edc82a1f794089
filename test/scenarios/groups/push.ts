import { expect, it, onTestFinished } from 'vitest'
import type { Browser } from '../../support/browser.ts'
import { Carrier } from '../../support/carrier.ts'
import type { DocumentServer } from '../../support/documents.ts'
import type { Gateway } from '../../support/gateway.ts'
import { hears } from '../../support/page-audio.ts'
import { SdkPage } from '../../support/sdk-page.ts'
import { until } from '../../support/until.ts'

/**
 * Peers of the tests. The browser's microphone plays 1200 Hz, and `app` receives notifications at `/push`.
 */
export interface PushFixture {
  readonly gateway: Gateway
  readonly browser: Browser
  readonly app: DocumentServer
}

const sdkTone = 1200

interface Registered {
  readonly push_notification_key: string
}

interface ReceivedPush {
  readonly device_token: string
  readonly notification: Readonly<Record<string, string>>
}

/**
 * Decrypts the invitation as docs/push.md says, and passes it to the SDK. Keeps the call like one that rings
 * over the WebSocket.
 */
const handle = async ({
  payload,
  key: text,
}: {
  payload: ReceivedPush['notification']
  key: string
}): Promise<unknown> => {
  const bytes = (base64: string) => Uint8Array.from(atob(base64), (c) => c.charCodeAt(0))
  const key = await crypto.subtle.importKey('raw', bytes(text), 'AES-GCM', false, ['decrypt'])
  const sealed = new Uint8Array([...bytes(payload.invite ?? ''), ...bytes(payload.tag ?? '')])
  const packed = await crypto.subtle.decrypt({ name: 'AES-GCM', iv: bytes(payload.iv ?? '') }, key, sealed)
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('deflate-raw'))
  const decrypted = await new Response(stream).json()
  const window = globalThis as unknown as {
    client: { handlePushNotification(options: object): Promise<unknown> }
    invites: object[]
  }
  const incomingCallHandler = ({ invite }: { invite: object }) => window.invites.push(invite)
  return window.client.handlePushNotification({ ...payload, decrypted, incomingCallHandler })
}

/** Tests of notifications with the published SDK. No device must be registered before. */
export const push = (current: () => PushFixture): void => {
  const received = (): ReceivedPush[] =>
    current()
      .app.asked('/push')
      .map(({ body }) => JSON.parse(body))

  it('the published SDK receives a call by a notification, attaches to the ringing call, and talks', async () => {
    const page = await SdkPage.open(current().browser, current().gateway)
    onTestFinished(() => page.close())
    const device = { deviceType: 'Desktop', deviceToken: 'a-token-of-the-application' }
    const registered = (await page.ask('registerDevice', device)) as Registered
    const carrier = await Carrier.calls(current().gateway, {
      domain: 'sdk.test',
      scenario: 'caller-released',
    })
    await until('the notification', received, (all) => all.length === 1)
    const [{ device_token, notification: payload }] = received() as [ReceivedPush]
    expect(device_token).toBe('a-token-of-the-application')
    expect(payload).toMatchObject({
      type: 'call_invite',
      encryption_type: 'aes_256_gcm',
      with_video: 'false',
    })
    // The services of Apple and Google accept at most 5 and 4 KiB.
    expect(JSON.stringify(payload).length).toBeLessThan(3500)
    const key = registered.push_notification_key
    expect(await page.page.evaluate(handle, { payload, key })).toMatchObject({ resultType: 'inboundCall' })
    expect(await page.invites()).toBe(1)
    await page.accept()
    await carrier.talks('answered', 440)
    await hears(page.page, 440)
    await carrier.hears(sdkTone, 500)
    // A second notification stops the ringing of other devices.
    await until('the cancel', received, (all) => all.length === 2)
    expect(received()[1]?.notification).toMatchObject({
      type: 'cancel',
      notification_uuid: payload.notification_uuid,
    })
    await page.hangUp()
    await carrier.done()
    await current().gateway.settled()
    expect(await current().gateway.metric('push_sending')).toBe(0)
  })

  it('a caller who gives up causes a cancel notification, and a page that attaches too late gets the BYE', async () => {
    const page = await SdkPage.open(current().browser, current().gateway)
    onTestFinished(() => page.close())
    const device = { deviceType: 'Desktop', deviceToken: 'a-token-of-the-application' }
    const { push_notification_key: key } = (await page.ask('registerDevice', device)) as Registered
    const before = received().length
    const carrier = await Carrier.calls(current().gateway, {
      domain: 'sdk.test',
      scenario: 'caller-cancels',
      holdMs: 'manual',
    })
    await until('the notification', received, (all) => all.length === before + 1)
    await carrier.sipp.event('ringing')
    await carrier.goesOn()
    await until('the cancel', received, (all) => all.length === before + 2)
    const [invite, cancel] = received().slice(before) as [ReceivedPush, ReceivedPush]
    expect([invite.notification.type, cancel.notification.type]).toEqual(['call_invite', 'cancel'])
    expect(cancel.notification.notification_uuid).toBe(invite.notification.notification_uuid)
    await carrier.done()
    await current().gateway.settled()
    // The SDK knows the call only from the notification, so the BYE reaches the page only after it attaches.
    const payload = invite.notification
    await page.page.evaluate(() => {
      const { client, userEvents } = globalThis as unknown as {
        client: { on(event: string, listener: (params: unknown) => void): void }
        userEvents: unknown[]
      }
      client.on('webrtc.message', (params) => userEvents.push(params))
    })
    await page.page.evaluate(handle, { payload, key })
    const heard = await until(
      'the bye',
      () => page.userEvents(),
      (all) => all.length > 0,
    )
    expect(heard).toMatchObject([{ method: 'verto.bye' }])
  })
}
