"""Certificates for tests, made by openssl in a folder of the test's own."""
import os
import ssl
import subprocess


def run(*words):
    subprocess.run(['openssl', *words], check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)


class Authority:
    """Signs certificates; `ca` is the path of its own."""

    def __init__(self, folder, name='ca'):
        self.folder = folder
        self.ca, self.key = os.path.join(folder, name + '.pem'), os.path.join(folder, name + '.key')
        run('req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes',
            '-days', '2', '-subj', '/CN=' + name, '-keyout', self.key, '-out', self.ca)

    def sign(self, name, days=2):
        """(cert, key) for 127.0.0.1 and localhost."""
        base = os.path.join(self.folder, name)
        run('req', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-subj',
            '/CN=' + name, '-keyout', base + '.key', '-out', base + '.csr')
        with open(base + '.ext', 'w', encoding='ascii') as file:
            file.write('subjectAltName=DNS:localhost,IP:127.0.0.1\n')
        run('x509', '-req', '-in', base + '.csr', '-CA', self.ca, '-CAkey', self.key,
            '-CAcreateserial', '-days', str(days), '-extfile', base + '.ext', '-out', base + '.pem')
        return base + '.pem', base + '.key'

    def context(self, cert=None):
        """For a client that trusts this authority, and shows `cert`."""
        context = ssl.create_default_context(cafile=self.ca)
        if cert:
            context.load_cert_chain(*cert)
        return context
