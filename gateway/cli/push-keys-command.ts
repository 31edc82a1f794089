import { stringify } from 'yaml'
import { newVapidKeys } from '../push/vapid.ts'

/**
 * `trunkline push-keys`: generates a key pair for Web Push, and prints it as YAML for the configuration, or
 * as JSON. Returns the exit code.
 */
export const printPushKeys = ({ json = false } = {}): number => {
  const webPush = { subject: 'mailto:you@example.com', ...newVapidKeys() }
  const keys = { push: { webPush } }
  process.stdout.write(json ? `${JSON.stringify(keys)}\n` : stringify(keys))
  return 0
}
