import os
import torchx.specs as specs
import torchx
from torchx.specs import Role as R
from typing import Dict, Union, Optional


def _cmd(kind):
    if kind == 'jupyter':
        port = 8888
        return 'jupyter lab --ip=0.0.0.0 --port=%d --no-browser' % port, port
    elif kind == 'tensorboard':
        return 'tensorboard --logdir {0} --bind_all --port {1}'.format('/logs', 6006), 6006
    elif kind == 'ssh':
        return '/usr/sbin/sshd -D -p 22', 22
    return None, None


def _home_mounts(*names, ro=False):
    home = os.environ.get('HOME', '/root')
    return [specs.BindMount(os.path.join(home, n), '/home/user/' + n, ro) for n in names]


def dev(kind: str = 'jupyter', image: str = torchx.IMAGE, gpus: int = 0, user: Optional[str] = None, share: bool = False) -> specs.AppDef:
    '''Starts a development container.

    :param kind: jupyter, tensorboard or ssh
    :param image: image
    '''
    cmd, port = _cmd(kind)
    if not cmd:
        cmd, port = 'sleep infinity', 0
    user = user or os.environ['USER']
    mounts = _home_mounts('.ssh', '.cache', ro=True) + _home_mounts('work')
    if share: mounts += [specs.VolumeMount('shared', '/shared')]
    prefix = ['set -e', 'export USER=' + user, f'cd /home/user']
    prefix[-1:] = [f'mkdir -p /logs', 'cd /home/user/work']
    script = ' && '.join(prefix + [cmd])
    role = R(
        name=kind[:20].replace('/', '_'), image=image, entrypoint='/bin/bash', args=['-lc', script],
        env=dict(TERM='xterm', **({'NVIDIA_VISIBLE_DEVICES': 'all'} if gpus else {})),
        resource=specs.resource(cpu=4 + 4 * gpus, gpu=gpus, memMB=2 ** 14),
        mounts=mounts, port_map={kind: port} if port else {},
    )
    role.metadata['owner'] = user
    return specs.AppDef('dev-' + user, [role])
