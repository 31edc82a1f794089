// biome-ignore-all lint/suspicious/noTemplateCurlyInString: ${NAME} is a variable of the configuration.
import type { BadFile } from './bad-file.ts'

const people =
  'subscribers:\n  - { email: alice@demo.example, password: "${A}" }\n  - { email: bob@demo.example, password: "${A}" }\n'
const env = { A: 'a-long-password' }

/** Files that name other files, folders and addresses, which are wrong. */
export const namedFiles: readonly BadFile[] = [
  {
    mistake: 'a misspelt person in XML',
    text: `${people}resources:\n  - address: /public/menu\n    handler:\n      kind: xml\n      document: |\n        <Response>\n          <Dial><Client>alcie</Client></Dial>\n        </Response>\n`,
    env,
    faults: [
      'trunkline.yaml:10:25 warning: resources[0].handler.document Client: the file declares no address /public/alcie; did you mean `/public/alice`? [unknown-address]',
    ],
  },
  {
    mistake: 'a misspelt address in a script',
    text: `${people}resources:\n  - address: /public/menu\n    handler:\n      kind: script\n      document:\n        version: 1.0.0\n        sections:\n          main:\n            - connect: { to: /public/alcie }\n`,
    env,
    faults: [
      'trunkline.yaml:12:30 warning: resources[0].handler.document.sections.main[0].connect.to: the file declares no address /public/alcie; did you mean `/public/alice`? [unknown-address]',
    ],
  },
  {
    mistake: 'an address that resembles none',
    text: `${people}resources:\n  - address: /public/menu\n    handler: { kind: script, document: '{"version":"1.0.0","sections":{"main":[{"connect":{"to":"/sales/desk-77"}}]}}' }\n`,
    env,
    faults: [
      'trunkline.yaml:6:40 warning: resources[0].handler.document /sections/main/0/connect/to: the file declares no address /sales/desk-77; calls to it fail unless the API has created it [unknown-address]',
    ],
  },
  {
    mistake: 'nothing in it',
    text: '',
    isExample: false,
    faults: [
      'trunkline.yaml:1:1 warning: the gateway has nothing to do: no domains, no subscribers, no endpoints, no resources [nothing-to-do]',
    ],
  },
  {
    mistake: 'comments alone',
    text: '# project: demo\n',
    faults: [
      'trunkline.yaml:1:1 warning: the gateway has nothing to do: no domains, no subscribers, no endpoints, no resources [nothing-to-do]',
    ],
  },
  {
    mistake: 'a certificate and a key that do not exist',
    text: 'subscribers: []\nhttp:\n  tls:\n    certificate: ./tls/cert.pem\n    key: ./tls/key.pem\nresources: []\nendpoints: []\ndomains: [{ domain: a.example, allow: [192.0.2.0/24] }]\n',
    faults: [
      'trunkline.yaml:4:18 http.tls.certificate: cannot be read: there is no such file [file-unreadable]',
      'trunkline.yaml:5:10 http.tls.key: cannot be read: there is no such file [file-unreadable]',
    ],
  },
  {
    mistake: 'a certificate and a key that are none',
    text: 'sip:\n  tls: { certificate: cert.pem, key: cert.pem, ca: cert.pem }\ndomains: [{ domain: a.example, allow: [192.0.2.0/24] }]\n',
    files: { 'cert.pem': 'garbage\n' },
    faults: [
      'trunkline.yaml:2:23 sip.tls.certificate: holds no PEM certificate [wrong-file]',
      'trunkline.yaml:2:38 sip.tls.key: holds no PEM private key that can be used [wrong-file]',
      'trunkline.yaml:2:52 sip.tls.ca: holds no PEM certificates of authorities that can be used [wrong-file]',
    ],
  },
  {
    mistake: 'a data folder below a file',
    text: 'dataDir: ./trunkline.yaml/data\ndomains: [{ domain: a.example, allow: [192.0.2.0/24] }]\n',
    faults: ['trunkline.yaml:1:10 dataDir: cannot be created: trunkline.yaml is a file [folder-unusable]'],
  },
  {
    mistake: 'a data folder in a system folder',
    text: 'dataDir: /proc/trunkline/data\ndomains: [{ domain: a.example, allow: [192.0.2.0/24] }]\n',
    faults: ['trunkline.yaml:1:10 dataDir: cannot be created: /proc is a system folder [folder-unusable]'],
  },
  {
    mistake: 'a folder of sounds that does not exist',
    text: 'media: { sounds: { folder: ./sounds } }\ndomains: [{ domain: a.example, allow: [192.0.2.0/24] }]\n',
    faults: [
      'trunkline.yaml:1:28 warning: media.sounds.folder: is no folder, so that no document can play file:<name> [folder-unusable]',
    ],
  },
  {
    mistake: 'a key for push notifications that is none',
    text: 'push:\n  apns: { keyFile: apns.p8, keyId: KEY1234567, teamId: TEAM123456, topic: com.example.phone }\n  fcm: { serviceAccountFile: fcm.json }\ndomains: [{ domain: a.example, allow: [192.0.2.0/24] }]\n',
    files: { 'apns.p8': 'garbage', 'fcm.json': '{}' },
    faults: [
      'trunkline.yaml:2:20 push.apns.keyFile: holds no private key from Apple (.p8) [wrong-file]',
      'trunkline.yaml:3:30 push.fcm.serviceAccountFile: holds no service account: token_uri must be a text [wrong-file]',
    ],
  },
]
