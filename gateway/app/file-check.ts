import { createPrivateKey } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import { readFailure } from '../../config/config-text.ts'
import type { Keys, Report } from '../../config/faults.ts'
import type { Config } from '../../config/types.ts'
import {
  CertificateFault,
  expiresSoon,
  readAuthorities,
  readCertificate,
  readKey,
  readPair,
} from '../auth/certificate.ts'
import { folderFault } from '../core/make-folder.ts'
import { serviceAccountOf } from '../push/fcm.ts'

/**
 * Checks the files and folders that a configuration names, as a start uses them: certificates, keys and
 * folders. Writes nothing. `now`: milliseconds since the epoch.
 */
export const checkFiles = (config: Config, now: number, report: Report): void => {
  checkCertificates(config, now, report)
  checkPushKeys(config, report)
  checkFolders(config, report)
}

interface TlsFiles {
  readonly certificate?: string
  readonly key?: string
  readonly ca?: string
}

const checkCertificates = ({ http, sip, carriers }: Config, now: number, report: Report): void => {
  const all: readonly (readonly [Keys, TlsFiles])[] = [
    [['http', 'tls'], http.tls || {}],
    [['sip', 'tls'], sip.tls],
    ...sip.tls.names.map((each, i) => [['sip', 'tls', 'names', i], each] as const),
    ...carriers.map(({ tls }, i) => [['carriers', i, 'tls'], tls] as const),
  ]
  for (const [keys, files] of all) {
    checkPair(keys, files, now, report)
    if (files.ca !== undefined) reportFault(() => readAuthorities(files.ca ?? ''), keys, report)
  }
}

const checkPair = (keys: Keys, { certificate, key }: TlsFiles, now: number, report: Report): void => {
  if (certificate === undefined || key === undefined) return
  // Each file is read by itself first, so that one report has the faults of both.
  const parts = [() => readCertificate(certificate), () => readKey(key)]
  if (parts.map((read) => reportFault(read, keys, report)).includes(undefined)) return
  const pair = reportFault(() => readPair(certificate, key, now, { warn: () => {} }), keys, report)
  const end = pair && expiresSoon(pair.cert, now)
  if (end === undefined) return
  const day = end.toISOString().slice(0, 10)
  report([...keys, 'certificate'], `expires on ${day}`, { code: 'questionable', severity: 'warning' })
}

/** Returns the result of a reading. Reports the fault of a certificate, a key or a list of authorities. */
const reportFault = <T>(read: () => T, keys: Keys, report: Report): T | undefined => {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof CertificateFault)) throw error
    report([...keys, error.of], error.reason, { code: error.isUnreadable ? 'file-unreadable' : 'wrong-file' })
    return undefined
  }
}

const checkPushKeys = ({ push }: Config, report: Report): void => {
  const { apns, fcm } = push
  if (apns)
    checkContent(['push', 'apns', 'keyFile'], apns.keyFile, report, (text) => {
      try {
        createPrivateKey(text)
      } catch {
        throw new Error('holds no private key from Apple (.p8)')
      }
    })
  if (fcm)
    checkContent(['push', 'fcm', 'serviceAccountFile'], fcm.serviceAccountFile, report, (text) => {
      try {
        serviceAccountOf(text)
      } catch (error) {
        throw new Error(`holds no service account: ${(error as Error).message}`)
      }
    })
}

const checkContent = (keys: Keys, file: string, report: Report, check: (text: string) => void): void => {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    report(keys, readFailure(error), { code: 'file-unreadable' })
    return
  }
  try {
    check(text)
  } catch (error) {
    report(keys, (error as Error).message, { code: 'wrong-file' })
  }
}

const checkFolders = ({ dataDir, media }: Config, report: Report): void => {
  const { sounds, speech, recordings } = media
  const folders = [
    [['dataDir'], dataDir, 'error'],
    [['media', 'recordings', 'folder'], recordings.folder, 'error'],
    // Speech continues without its folder.
    [['media', 'speech', 'folder'], speech.folder, 'warning'],
  ] as const
  for (const [keys, folder, severity] of folders) {
    const fault = folder === undefined ? undefined : folderFault(folder)
    if (fault) report(keys, fault, { code: 'folder-unusable', severity })
  }
  if (sounds.folder !== undefined && !isFolder(sounds.folder))
    report(['media', 'sounds', 'folder'], 'is no folder, so that no document can play file:<name>', {
      code: 'folder-unusable',
      severity: 'warning',
    })
}

const isFolder = (path: string): boolean => {
  try {
    return statSync(path).isDirectory()
  } catch {
    return false
  }
}
