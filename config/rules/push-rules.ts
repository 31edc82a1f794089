import type { Report } from '../faults.ts'
import type { FileConfig } from '../file.ts'

/** Checks the rules of `push` beyond the schema. */
export const checkPush = ({ push }: FileConfig, report: Report): void => {
  const { publicKey, privateKey } = push.webPush ?? {}
  if ((publicKey === undefined) === (privateKey === undefined)) return
  const missing = publicKey === undefined ? 'publicKey' : 'privateKey'
  report(['push', 'webPush'], `the key ${missing} is missing; without both the gateway makes them`)
}
