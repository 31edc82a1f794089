import type { Report } from './faults.ts'
import type { FileConfig } from './file.ts'

/** Checks what a schema cannot say of `push`. */
export const checkPush = ({ push }: FileConfig, report: Report): void => {
  const { publicKey, privateKey } = push.webPush ?? {}
  if ((publicKey === undefined) === (privateKey === undefined)) return
  const missing = publicKey === undefined ? 'publicKey' : 'privateKey'
  report(['push', 'webPush'], `the key ${missing} is missing; without both the gateway makes them`)
}
