"""Calls XLA for the scripts: in its own environment under target/hlo-cases, and in processes that XLA may end."""
import multiprocessing, os, subprocess, sys
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def ask(function, questions, ended):
    """The results of a function that calls XLA; `ended` where XLA ends the whole process, as it does for some texts."""
    answers = []
    while len(answers) < len(questions):
        try:
            with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
                for answer in pool.map(function, questions[len(answers):]): answers.append(answer)
        except BrokenProcessPool: answers.append(ended)
    return answers


def reads(text):
    """Whether XLA reads a text."""
    from jaxlib import _hlo
    try: _hlo.hlo_module_from_text(text)
    except Exception: return False
    return True


def ready():
    """Starts the script again in the environment with XLA, if this one does not have it."""
    os.environ.update(JAX_PLATFORMS="cpu", TF_CPP_MIN_LOG_LEVEL="3")
    try: import jaxlib._hlo  # noqa: F401
    except ImportError:
        home = os.path.join(ROOT, "target/hlo-cases")
        subprocess.run([sys.executable, "-m", "venv", home], check=True)
        subprocess.run([home + "/bin/pip", "install", "-q", "jax==0.12.*", "jaxlib==0.12.*"], check=True)
        os.execv(home + "/bin/python", [home + "/bin/python", *sys.argv])
