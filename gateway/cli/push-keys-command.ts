import { stringify } from 'yaml'
import { newVapidKeys } from '../push/vapid.ts'

/**
 * `trunkline push-keys`: generates a key pair for Web Push, and prints it as YAML for the configuration.
 * Returns the exit code.
 */
export const printPushKeys = (): number => {
  const webPush = { subject: 'mailto:you@example.com', ...newVapidKeys() }
  process.stdout.write(stringify({ push: { webPush } }))
  return 0
}
