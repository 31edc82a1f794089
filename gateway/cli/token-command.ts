import { join } from 'node:path'
import type { Config } from '../../config/types.ts'
import { readOrMakeKey } from '../auth/key.ts'
import { SubscriberTokens } from '../auth/subscriber-tokens.ts'
import { SystemClock } from '../core/clock.ts'
import { createLog } from '../core/log.ts'
import { createDirectory } from '../directory/directory.ts'
import { directoryOptions } from '../directory/opening/directory-options.ts'
import { makeOwnDataFolder } from './own-data-folder.ts'

const daySeconds = 86_400

/**
 * `trunkline token`: prints an access token, valid for a day, for a subscriber given by e-mail or address.
 * `json` prints
 * it with its end as JSON. Returns the exit code.
 */
export const issueToken = async (config: Config, who: string, { json = false } = {}): Promise<number> => {
  makeOwnDataFolder(config.dataDir)
  const clock = new SystemClock()
  const secret = readOrMakeKey(join(config.dataDir, 'secret.key'))
  const log = createLog({ level: 'silent', pretty: false })
  const directory = await createDirectory({
    ...directoryOptions(config),
    secret,
    clock,
    log,
  })
  try {
    const target = directory.resolve(who, config.project)
    const subscriber =
      directory.subscriberByEmail(config.project, who) ??
      (target?.kind === 'subscriber' ? directory.subscriber(target.subscriberId) : undefined)
    if (!subscriber) {
      process.stderr.write(`trunkline: No subscriber has the e-mail or address ${who}.\n`)
      return 1
    }
    const { token, expiresAt } = await new SubscriberTokens(secret, clock, config.http.publicHost).issue(
      subscriber,
      daySeconds,
    )
    const result = {
      token,
      subscriber_id: subscriber.id,
      expires_at: new Date(expiresAt * 1000).toISOString(),
    }
    process.stdout.write(json ? `${JSON.stringify(result)}\n` : `${token}\n`)
    return 0
  } finally {
    await directory.close()
  }
}
