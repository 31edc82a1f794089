import { readFileSync } from 'node:fs'
import type { PushConfig } from '../config/types.ts'
import type { Clock } from './clock.ts'
import { DeviceRows } from './directory/devices.ts'
import type { Metrics } from './metrics.ts'
import type { Base, Customers, Store } from './open.ts'
import { Apns } from './push/apns.ts'
import { Deliveries } from './push/deliveries.ts'
import { Fcm, serviceAccountOf } from './push/fcm.ts'
import { Push } from './push/push.ts'
import { PushHttp } from './push/push-http.ts'
import type { PushTransport } from './push/types.ts'
import { Vapid, vapidOptions } from './push/vapid.ts'
import { WebPush } from './push/web-push.ts'
import { PushWebhook } from './push/webhook.ts'
import type { CustomerHttp } from './webhooks/customer-http.ts'
import { AddressGuard } from './webhooks/guard.ts'

/** Opens push notifications; undefined where no way to devices is configured. Rejects when a key or its file cannot be used. */
export const openPush = async (
  { config, clock, log: parentLog, closing }: Base,
  { directory, secret }: Pick<Store, 'directory' | 'secret'>,
  { http }: Pick<Customers, 'http'>,
  metrics: Metrics,
): Promise<Push | undefined> => {
  const { push: options, limits } = config
  const guard = new AddressGuard(limits.documentNetworks)
  const transports = await openTransports(options, { http, guard, secret, clock })
  if (transports.length === 0) {
    metrics.gauge('push_sending', () => 0)
    return undefined
  }
  const log = parentLog.child({ part: 'push' })
  const devices = new DeviceRows(directory.store)
  const push = new Push({
    ...{ directory, devices, clock, log, ringMs: limits.ringMs, whenOnline: options.whenOnline },
    encrypt: options.encryption === 'aes_256_gcm',
    deliveries: new Deliveries({ transports, devices, clock, log, metrics }),
  })
  metrics.gauge('push_sending', () => push.sending)
  return closing.add('push', push, (open) => open.close())
}

interface TransportParts {
  readonly http: CustomerHttp
  readonly guard: AddressGuard
  /** The gateway's own. */
  readonly secret: Uint8Array
  readonly clock: Clock
}

/** In the order in which they are asked whether they take a device. */
const openTransports = async (
  { webPush, apns, fcm, webhook }: PushConfig,
  { http, guard, secret, clock }: TransportParts,
): Promise<PushTransport[]> => {
  const now = () => clock.now()
  const transports: PushTransport[] = []
  if (webPush) {
    const vapid = await Vapid.open(vapidOptions(webPush, secret))
    transports.push(new WebPush(new PushHttp({ guard }), vapid, now))
  }
  if (apns) {
    const { keyFile, ...rest } = apns
    transports.push(await using(keyFile, (key) => Apns.open({ ...rest, key, now })))
  }
  if (fcm) {
    const { serviceAccountFile, host } = fcm
    const open = (text: string) =>
      Fcm.open({ account: serviceAccountOf(text), host, http: new PushHttp(), now })
    transports.push(await using(serviceAccountFile, open))
  }
  if (webhook) transports.push(new PushWebhook(webhook.url, http))
  return transports
}

/** Makes something of a file's text; an error names the file. */
const using = async <T>(file: string, make: (text: string) => Promise<T>): Promise<T> => {
  try {
    return await make(readFileSync(file, 'utf8'))
  } catch (error) {
    throw new Error(`The file ${file} cannot be used for push notifications: ${(error as Error).message}`)
  }
}
