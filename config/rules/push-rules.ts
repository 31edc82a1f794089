import type { Report } from '../faults.ts'
import type { FileConfig } from '../file-config.ts'

/** Checks the rules of `push` beyond the schema. */
export const checkPush = ({ push }: FileConfig, report: Report): void => {
  const { publicKey, privateKey } = push.webPush ?? {}
  if ((publicKey === undefined) === (privateKey === undefined)) return
  const missing = publicKey === undefined ? 'publicKey' : 'privateKey'
  report(['push', 'webPush'], `must have both publicKey and privateKey, or neither; ${missing} is missing`)
}
