import { startSipAgent } from '@trunkline/sip-agent'
import Srf from 'drachtio-srf'

const target = process.argv[2] ?? 'sip:127.0.0.1:5080'
const port = Number(process.argv[3] ?? 5060)
const agent = await startSipAgent({ listen: [{ transport: 'udp', address: '127.0.0.1', port }] })
const srf = new Srf()
srf.connect({ host: agent.host, port: agent.port, secret: agent.secret })
srf.on('connect', () => console.log(`forwarding calls from port ${agent.addresses[0]?.port} to ${target}`))
srf.invite(async (req, res) => {
  const call = await srf.createB2BUA(req, res, target, {}).catch((error) => console.log(error.message))
  call?.uas.on('destroy', () => call.uac.destroy())
  call?.uac.on('destroy', () => call.uas.destroy())
})
