import { readFileSync } from 'node:fs'
import { AddressGuard } from '@trunkline/sip-agent/address-guard'
import type { PushConfig } from '../../config/types.ts'
import type { CustomerHttp } from '../callbacks/customer-http.ts'
import type { Clock } from '../core/clock.ts'
import type { Metrics } from '../core/metrics.ts'
import { DeviceRows } from '../directory/tables/devices.ts'
import { Apns } from '../push/apns.ts'
import { Fcm, serviceAccountOf } from '../push/fcm.ts'
import { Push } from '../push/push.ts'
import { PushDeliveries } from '../push/push-deliveries.ts'
import { PushHttp } from '../push/push-http.ts'
import type { PushTransport } from '../push/push-transport.ts'
import { PushWebhook } from '../push/push-webhook.ts'
import { ReplaceablePush } from '../push/replaceable-push.ts'
import { Vapid, vapidOptions } from '../push/vapid.ts'
import { WebPush } from '../push/web-push.ts'
import type { AppContext, CustomerServers, OpenedStore } from './open.ts'

/**
 * Opens push notifications; without a configured push service, no notification is sent. Rejects if a key or
 * its file cannot be used. Key files are read again at each reload.
 */
export const openPush = async (
  base: AppContext,
  store: Pick<OpenedStore, 'directory' | 'secret'>,
  customers: Pick<CustomerServers, 'http'>,
  metrics: Metrics,
): Promise<ReplaceablePush> => {
  const open = (config: AppContext['config']) => openOne({ ...base, config }, store, customers, metrics)
  let settings = settingsOf(base.config)
  const push = new ReplaceablePush(await open(base.config))
  base.followers.add('push', async (next) => {
    const wanted = settingsOf(next)
    if (wanted === settings) return undefined
    const prepared = await open(next)
    const commit = () => {
      settings = wanted
      push.change(prepared)
    }
    return { commit, discard: () => prepared?.close() }
  })
  metrics.gauge('push_sending', () => push.sending)
  return base.closing.add('push', push, (opened) => opened.close())
}

/**
 * Returns a fingerprint that changes with any setting of push notifications and with the content of key
 * files.
 */
const settingsOf = ({ push, limits: { documentNetworks, ringMs } }: AppContext['config']): string => {
  const files = [push.apns?.keyFile, push.fcm?.serviceAccountFile].map((file) => file && textOf(file))
  return JSON.stringify({ push, documentNetworks, ringMs, files })
}

/** Returns undefined if a file cannot be read. Opening the transport then reports the reason. */
const textOf = (file: string): string | undefined => {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
}

const openOne = async (
  { config, clock, log: parentLog }: AppContext,
  { directory, secret }: Pick<OpenedStore, 'directory' | 'secret'>,
  { http }: Pick<CustomerServers, 'http'>,
  metrics: Metrics,
): Promise<Push | undefined> => {
  const { push: options, limits } = config
  const guard = new AddressGuard(limits.documentNetworks)
  const transports = await openTransports(options, { http, guard, secret, clock })
  if (transports.length === 0) return undefined
  const log = parentLog.child({ part: 'push' })
  const devices = new DeviceRows(directory.store)
  const deliveries = new PushDeliveries({ transports, devices, clock, log, metrics })
  const { whenOnline, encryption } = options
  return new Push(
    { ringMs: limits.ringMs, whenOnline, encrypt: encryption === 'aes_256_gcm' },
    { directory, devices, deliveries, clock, log },
  )
}

interface TransportDeps {
  readonly http: CustomerHttp
  readonly guard: AddressGuard
  /** Secret of the gateway. */
  readonly secret: Uint8Array
  readonly clock: Clock
}

/** Opens the transports. For each device, the first one that accepts the device's token is used. */
const openTransports = async (
  { webPush, apns, fcm, webhook }: PushConfig,
  { http, guard, secret, clock }: TransportDeps,
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

/** Builds a transport from a file's text. An error names the file. */
const using = async <T>(file: string, make: (text: string) => Promise<T>): Promise<T> => {
  try {
    return await make(readFileSync(file, 'utf8'))
  } catch (error) {
    throw new Error(`The file ${file} cannot be used for push notifications: ${(error as Error).message}`)
  }
}
